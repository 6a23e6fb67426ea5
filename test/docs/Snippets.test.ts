import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root, tool } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Pages from "./Pages.ts"

const filesOf = (section: string, folder: string) =>
  Pages.blocksOf(section).filter(({ language }) => /^tsx?$/.test(language)).map(({ name, text }) => ({ folder, name, text }))

/** The files that the pages show, each in the folder of its section. */
const files = Pages.all().flatMap(({ path, text }) =>
  text.split(/^## /m).flatMap((section, i) => filesOf(section, `${Pages.anchor(path)}-${i}`)))

const config = {
  extends: join(root, "tsconfig.json"),
  compilerOptions: { jsx: "react-jsx" },
  include: ["*/**/*.ts", "*/**/*.tsx"],
  exclude: ["node_modules"]
}

describe("The files that the pages show", () => {
  it("have names", () => {
    assert.isAbove(files.length, 15)
    assert.deepStrictEqual(files.filter(({ name }) => name === ""), [])
  })

  it("compile", async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-snippets-"))
    try {
      for (const { folder: section, name, text } of files) {
        const file = join(folder, section, name)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text)
      }
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir")
      const { code, output } = await run([tool("tsc"), "-p", folder, "--noEmit"])
      assert.strictEqual(code, 0, output)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
