import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { KnownModules } from "../../src/main/module/KnownModules.ts"

/** A time at which no test writes a file. */
const LONG_AGO = new Date("2020-01-01T00:00:00Z")

/** The age from which an input counts as unchanged since, in milliseconds. */
const OLD = 60

interface Project {
  readonly write: (file: string, text: string) => void
  /** Loads the module, and calls `made` meanwhile if it is made anew. Returns how often it was made. */
  readonly load: (made?: () => void) => Promise<number>
}

/** Uses a project with a module, whose files are old. */
const inProject = async (
  files: Readonly<Record<string, string>>,
  use: (project: Project) => Promise<void>
) => {
  const root = mkdtempSync(join(tmpdir(), "systole-known-"))
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  for (const [file, text] of Object.entries({ "enzymes/a.ts": "", ...files })) write(file, text)
  const known = new KnownModules<number>()
  const module = join(root, "enzymes", "a.ts")
  for (const folder of [root, join(root, "enzymes")]) utimesSync(folder, LONG_AGO, LONG_AGO)
  // The time of the change of a file cannot be set.
  while (Date.now() - statSync(module).ctimeMs < OLD) await setImmediate()
  let count = 0
  const load = (made = () => {}) => known.load(module, async () => {
    made()
    return { value: ++count, inputs: [module], outputs: [] }
  })
  try {
    await use({ write, load })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

describe("A module that is loaded", () => {
  it("is known, though its first load makes a hidden folder in the project", () =>
    inProject({}, async ({ load, write }) => {
      assert.strictEqual(await load(() => write(".systole/modules/a.mjs", "")), 1)
      assert.strictEqual(await load(), 1)
    }))

  it("is made anew after a change of itself, also of one during its load", () =>
    inProject({}, async ({ load, write }) => {
      assert.strictEqual(await load(() => write("enzymes/a.ts", "changed")), 1)
      assert.strictEqual(await load(), 2)
    }))

  it("is made anew if a name that an import may resolve to appears, also during its load", () =>
    inProject({}, async ({ load, write }) => {
      assert.strictEqual(await load(() => write("enzymes/b.ts", "")), 1)
      assert.strictEqual(await load(), 2)
    }))

  it.each([
    ["a file", { "tsconfig.json": "{ \"extends\": \"./config/base\" }", "config/base.json": "{}" }, "config/base.json"],
    ["a list", { "tsconfig.json": "{ \"extends\": [\"./a.json\", \"./b.json\"], }", "a.json": "{}", "b.json": "{}" }, "b.json"],
    [
      "a file of a package through another file",
      {
        "tsconfig.json": "{ // strict\n \"extends\": \"./base.json\" }",
        "base.json": "{ \"extends\": \"@tsconfig/strict\" }",
        "node_modules/@tsconfig/strict/tsconfig.json": "{}"
      },
      "node_modules/@tsconfig/strict/tsconfig.json"
    ],
    ["a file that is absent yet", { "tsconfig.json": "{ \"extends\": \"./later.json\" }" }, "later.json"],
    [
      "itself through another file",
      { "tsconfig.json": "{ \"extends\": \"./b.json\" }", "b.json": "{ \"extends\": \"./tsconfig.json\" }" },
      "b.json"
    ]
  ])("is made anew after a change of settings that tsconfig.json extends: %s", (_, files, changed) =>
    inProject(files, async ({ load, write }) => {
      assert.deepStrictEqual([await load(), await load()], [1, 1])
      write(changed, "{ \"compilerOptions\": {} }")
      assert.strictEqual(await load(), 2)
    }))
})
