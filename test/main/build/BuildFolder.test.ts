import { assert, describe, it } from "@effect/vitest"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BuildFolder from "../../../src/main/build/BuildFolder.ts"
import * as BuildReadme from "../../../src/main/build/BuildReadme.ts"
import { targets } from "../../../src/main/build/BuildTarget.ts"

/** Uses an empty folder. */
const inFolder = async (use: (folder: string) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "systole-folder-"))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const keptOf = (project: string) => targets.workers.kept?.(project, { content: undefined }) ?? assert.fail("nothing is kept")
const kept = keptOf("shop")

/** Writes a build of one file. */
const write = (folder: string, file: string) =>
  BuildFolder.write(folder, { outputs: [{ file, contents: new Uint8Array(1) }], described: [], texts: [], kept: undefined })

describe("The folder of a build", () => {
  it("may hold its wrangler.jsonc and hidden files of other tools before the first build", () =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, ".wrangler"))
      for (const file of [".dev.vars", "wrangler.jsonc"]) writeFileSync(join(folder, file), "{}")
      assert.isUndefined(await BuildFolder.foreign(folder, kept))
      writeFileSync(join(folder, "notes.txt"), "mine")
      assert.strictEqual(await BuildFolder.foreign(folder, kept), "notes.txt")
    }))

  it("leaves a wrangler.jsonc that it cannot read", () =>
    inFolder(async (folder) => {
      const file = join(folder, "wrangler.jsonc")
      for (const there of [() => mkdirSync(file), () => symlinkSync("absent", file)]) {
        there()
        const written = BuildFolder.write(folder, { outputs: [], described: [], texts: [], kept })
        assert.isDefined(await written.then(() => undefined, (error: unknown) => error))
        assert.isFalse(lstatSync(file).isFile())
        rmSync(file, { recursive: true })
      }
    }))

  it("loses no file to the list of another program", () =>
    inFolder(async (folder) => {
      for (const text of ["[\"notes.txt\"]", "null", "{ half"]) {
        writeFileSync(join(folder, "files.json"), text)
        writeFileSync(join(folder, "notes.txt"), "mine")
        assert.strictEqual(await BuildFolder.foreign(folder, kept), "files.json", text)
      }
    }))

  it("is replaced by the next build, after an interrupted one as well", () =>
    inFolder(async (folder) => {
      // A folder in the place of a file interrupts the build.
      mkdirSync(join(folder, "chunk-b.js.draft"))
      await write(folder, "chunk-a.js")
      assert.isDefined(await write(folder, "chunk-b.js").then(() => undefined, (error: unknown) => error))
      assert.isUndefined(await BuildFolder.foreign(folder, undefined))
      rmSync(join(folder, "chunk-b.js.draft"), { recursive: true })
      await write(folder, "chunk-c.js")
      assert.deepStrictEqual(readdirSync(folder).sort(), ["chunk-c.js", "files.json"])
    }))
})

describe("The files beside a bundle", () => {
  it("name a Worker as the platform allows it, whatever the folder of the project is called", () => {
    const nameOf = (project: string) => {
      const [, name = ""] = /"name": "([^"]*)"/.exec(keptOf(project).contents) ?? []
      return name
    }
    const projects = ["shop", "My Shop!", "_draft", "日本", "a".repeat(80)]
    assert.deepStrictEqual(projects.map(nameOf), ["shop", "my-shop", "draft", "worker", "a".repeat(55)])
  })

  it("tell where the data of a server is, and from which environment it was built", () => {
    const page = (data: string, environment?: string) => {
      const settings = { data, host: "127.0.0.1", port: 1, kernel: { limits: { stopMillis: 8000 } } }
      return BuildReadme.make({ target: "node", environment, usage: ["node systole.js"], variables: [] }, settings as never)
    }
    assert.include(page(".data"), "Data is in `.data` of the working directory;")
    assert.include(page("/var/lib/shop", "production"), "Data is in `/var/lib/shop`;")
    assert.include(page("/var/lib/shop", "production"), "`systole build --target node --env production`")
  })
})
