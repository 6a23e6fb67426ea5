import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { node, root, tool } from "./Host.ts"
import { run } from "./Process.ts"

const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"))

describe("The tasks of Deno", () => {
  it("have the names of the npm scripts", () => {
    const { scripts } = read("package.json") as { readonly scripts: Readonly<Record<string, string>> }
    const { tasks } = read("deno.json") as { readonly tasks: Readonly<Record<string, string>> }
    assert.deepStrictEqual(Object.keys(tasks), Object.keys(scripts))
    // Deno treats the Node executable of the dependencies as JavaScript.
    for (const [name, line] of Object.entries(tasks)) assert.notMatch(line, /\bnode\b/, name)
  })

  it("run", async () => {
    const { code, output } = await run([tool("deno"), "task", "bench", "bogus"])
    assert.strictEqual(code, 2)
    assert.include(output, "There is no bench \"bogus\"")
  })
})

describe("run.mjs", () => {
  it("reports an unknown script", async () => {
    const { code, output } = await run([node(), "test/scripts/run.mjs", "bogus"])
    assert.strictEqual(code, 2)
    assert.match(output, /^There is no script "bogus"\. .*\n$/)
  })
})
