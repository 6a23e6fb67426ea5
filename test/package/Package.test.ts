import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Project } from "./Project.ts"
import { create } from "./Project.ts"

const enzyme = `
import { Address, Enzyme } from "systole"

export default Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx) => tx.set(Address.parse("/data/greetings/world").text, "hello")
})
`

describe("package", () => {
  let project: Project | undefined

  beforeAll(async () => {
    project = await create()
  }, 120_000)
  afterAll(() => project?.remove())

  it("holds JavaScript, types and a licence, and nothing of the tests", () => {
    for (const file of ["package.json", "LICENSE", "dist/src/index.js", "dist/src/index.d.ts", "src/index.ts"]) assert.include(project!.packed, file)
    assert.deepStrictEqual(project!.packed.filter((file) => /(^|\/)(test|node_modules)\//.test(file) || file.endsWith(".test.ts")), [])
  })

  it("takes an enzyme written in a project that has nothing else", async () => {
    await project!.write("enzymes/greet.js", enzyme)
    await project!.write("show.js", "import greet from \"./enzymes/greet.js\"\nconsole.log(greet.name, typeof greet.run)\n")
    const { code, output } = await project!.node("show.js")
    assert.strictEqual(output, "greet function\n")
    assert.strictEqual(code, 0)
  })

  it("knows the types of such an enzyme", async () => {
    await project!.write("enzymes/typed.ts", enzyme)
    assert.deepInclude(await project!.types("enzymes/typed.ts"), { output: "", code: 0 })
    await project!.write("enzymes/wrong.ts", enzyme.replace("query:", "quarry:"))
    assert.include((await project!.types("enzymes/wrong.ts")).output, "quarry")
  })
})
