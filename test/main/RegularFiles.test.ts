import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Bundle from "../../src/main/module/Bundle.ts"
import * as ModuleFolder from "../../src/main/module/ModuleFolder.ts"

/** A project with a module, until the scope closes. */
const project = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "systole-regular-"))
    mkdirSync(join(root, "enzymes"))
    writeFileSync(join(root, "enzymes", "good.ts"), "export default 1\n")
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true }))
)

/** The reason for which a module cannot be bundled. */
const refusal = (root: string, file = "enzymes/good.ts") =>
  Effect.promise(() => Bundle.make(join(root, file), root).then(() => "none", (error: unknown) =>
    Bundle.explain(error, { root, from: join(root, "enzymes") }).reason))

const importing = (root: string, path: string): void =>
  writeFileSync(join(root, "enzymes", "good.ts"), `import "${path}"\nexport default 1\n`)

describe("A bundle reads regular files alone", () => {
  const cases: Readonly<Record<string, (root: string) => string | void>> = {
    "a link to a device as the module": (root) => {
      symlinkSync("/dev/zero", join(root, "enzymes", "zero.ts"))
      return "enzymes/zero.ts"
    },
    "a pipe as the module": (root) => {
      execFileSync("mkfifo", [join(root, "enzymes", "pipe.ts")])
      return "enzymes/pipe.ts"
    },
    "an imported device": (root) => importing(root, "/dev/zero"),
    "an imported link to a device": (root) => {
      symlinkSync("/dev/zero", join(root, "enzymes", "zero.js"))
      importing(root, "./zero.js")
    },
    "an imported pipe": (root) => {
      execFileSync("mkfifo", [join(root, "pipe.ts")])
      importing(root, "../pipe.ts")
    },
    "settings that are a device": (root) => symlinkSync("/dev/zero", join(root, "tsconfig.json")),
    "settings that extend a pipe": (root) => {
      writeFileSync(join(root, "tsconfig.json"), "{ \"extends\": \"./base.json\" }")
      execFileSync("mkfifo", [join(root, "base.json")])
    },
    "settings beside an import that are a pipe": (root) => {
      mkdirSync(join(root, "lib"))
      writeFileSync(join(root, "lib", "a.ts"), "export default 1\n")
      execFileSync("mkfifo", [join(root, "lib", "package.json")])
      importing(root, "../lib/a.ts")
    },
    "a source map that is a device": (root) =>
      writeFileSync(join(root, "enzymes", "good.ts"), "export default 1\n//# sourceMappingURL=/dev/zero\n"),
    "a file without bounds": (root) => {
      writeFileSync(join(root, "enzymes", "large.js"), "")
      truncateSync(join(root, "enzymes", "large.js"), 2 ** 40)
      importing(root, "./large.js")
    }
  }
  for (const [name, prepare] of Object.entries(cases)) {
    it.live(`and refuses ${name}`, () =>
      Effect.gen(function*() {
        const root = yield* project
        const reason = yield* refusal(root, prepare(root) ?? undefined)
        assert.match(reason, /is no regular file|a module may have 67108864/)
      }))
  }

  it.live("and takes links to regular files", () =>
    Effect.gen(function*() {
      const root = yield* project
      writeFileSync(join(root, "there.ts"), "export const there = 1\n")
      symlinkSync(join(root, "there.ts"), join(root, "enzymes", "link.ts"))
      importing(root, "./link.ts")
      assert.strictEqual(yield* refusal(root), "none")
    }))
})

describe("The folder of modules", () => {
  it.live("keeps the newest files and the young ones, and files of others", () =>
    Effect.gen(function*() {
      const root = yield* project
      const folder = join(root, ModuleFolder.FOLDER)
      const nameOf = (i: number): string => `${i.toString(16).padStart(64, "0")}.mjs`
      mkdirSync(folder, { recursive: true })
      for (let i = 0; i < 600; i++) {
        writeFileSync(join(folder, nameOf(i)), "")
        utimesSync(join(folder, nameOf(i)), 1000 + i, 1000 + i)
      }
      writeFileSync(join(folder, "bundled.json"), "")
      yield* Effect.promise(() => ModuleFolder.write(root, nameOf(600), "export default 1"))
      const left = readdirSync(folder)
      assert.include(left, "bundled.json")
      assert.sameMembers(left.filter((name) => name !== "bundled.json"), Array.from({ length: 501 }, (_, i) => nameOf(100 + i)))
      yield* Effect.promise(() => ModuleFolder.removeOld(folder, 0))
      assert.lengthOf(readdirSync(folder), 502)
    }))
})
