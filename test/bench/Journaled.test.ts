import { assert, describe, it } from "@effect/vitest"
import { measure, tables } from "./Bench.ts"
import * as Journaled from "./Journaled.ts"
import { libraries } from "./Reactive.ts"
import { shapes } from "./ReactiveShapes.ts"

describe("The reactive bench within a space", () => {
  it("has the results of the baseline, one transaction for each run and one beat for each batch", async () => {
    for (const name of ["repeated", "mux", "100x15, 6 reads, 50 % moving"]) {
      const journaled = await Journaled.make()
      const [own, base] = [shapes[name]!.build(journaled), shapes[name]!.build(await libraries["alien"]!())]
      for (const shape of [own, base]) shape.run()
      assert.strictEqual(own.tally(), base.tally(), name)
      assert.strictEqual(own.computed(), base.computed(), name)
      await journaled.verify()
    }
  })

  it("resumes all nodes and runs none", async () => {
    const { resume } = await Journaled.persisted(3000)
    for (let i = 0; i < 2; i++) {
      const { nodes, runs } = await resume()
      assert.deepStrictEqual({ nodes, runs }, { nodes: 3003, runs: 0 })
    }
  })

  it("has its own table", async () => {
    const kase = { name: "a", unit: "ms", baseline: "x", contenders: { x: () => 1 } }
    const found = tables([kase, { ...kase, name: "b", table: "second" }, { ...kase, name: "c" }])
    assert.deepStrictEqual(
      [...found].map(([title, cases]) => [title, cases.map(({ name }) => name)]),
      [["", ["a", "c"]], ["second", ["b"]]]
    )
    assert.lengthOf(await measure(found.get("second")![0]!), 1)
  })
})
