import { assert, describe, it } from "@effect/vitest"
import * as SourceLines from "./SourceLines.ts"

const lines = (text: string, path = "src/a/A.ts") => SourceLines.count({ path, text })

describe("The lines of code", () => {
  it("are those with code: comments and blank lines do not count", () => {
    assert.strictEqual(lines("/**\n * A.\n *\n * @module\n */\n\nconst a = 1\n\n// why\nconst b = 2 // two\n/* c */ const c = 3\n"), 3)
    assert.strictEqual(lines(""), 0)
  })

  it("count a text that looks like a comment, and lines around a comment in an expression", () => {
    assert.strictEqual(lines("const a = \"// no comment\"\nconst b = `\n/* none */\n\n`\nconst c = /\\/\\*x/\n"), 5)
    assert.strictEqual(lines("const a = 1 + /* one\n\ntwo */ 2\n"), 2)
  })

  it("are added up by folder and by set", () => {
    const { folders, sets } = SourceLines.sums([
      { path: "src/cli/command/FaceCommands.ts", text: "export const a = 1\n" },
      { path: "src/cli/command/Cli.ts", text: "export const b = 1\nexport const c = 1\n" },
      { path: "src/kernel/space/Handle.ts", text: "export const d = 1\n" },
      { path: "src/operation/Face.ts", text: "export const e = 1\n" }
    ])
    assert.deepStrictEqual([...folders], [["src/cli", 3], ["src/kernel", 1], ["src/operation", 1]])
    assert.deepStrictEqual([...sets], [["outside of the ledgers", 2], ["faces of the ledgers", 1]])
  })

  it("fail for a source that does not parse, by its path", () => {
    assert.throws(() => lines("const = ;", "src/a/Broken.ts"), "src/a/Broken.ts is not counted")
  })
})
