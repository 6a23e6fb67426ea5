import { assert, describe } from "@effect/vitest"
import { problem, test } from "./TestIngress.ts"

describe("The query of a cell", () => {
  const cells = "/v1/spaces/shop/cells"

  test("writes and deletes nothing for a query that only a read has", async ({ ask, put }) => {
    await put(`${cells}/data/a`, 1)
    for (const query of ["below", "list", "pull", "values", "after=/b", "limit=1", "last=1"]) {
      assert.deepStrictEqual(problem(await ask(`${cells}/data/a?${query}`, { method: "DELETE" })), [400, "query/invalid"], query)
      assert.deepStrictEqual(problem(await put(`${cells}/data/a?${query}`, 2)), [400, "query/invalid"], query)
    }
    assert.strictEqual((await ask(`${cells}/data/a`)).body, 1)
  })

  test("takes a switch that is false as one that is not there", async ({ ask, put }) => {
    await put(`${cells}/data/a`, 1)
    assert.strictEqual((await ask(`${cells}/data/a?list=false&below=false&pull=false`)).body, 1)
    assert.deepStrictEqual((await ask(`${cells}/data?list=`)).body, { names: ["a"], next: null })
  })
})
