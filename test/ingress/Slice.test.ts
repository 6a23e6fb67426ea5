import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Slices } from "systole"
import { absentAt } from "../../src/ingress/route/Slice.ts"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ slices: [] }), (app) => Effect.promise(() => run(app))))

describe("The ingress of a runtime without some slices", () => {
  test("answers each route of an absent slice with slice/absent, and says what to do", async ({ accidents, ask, post }) => {
    const space = "/v1/spaces/shop"
    const reads = ["rv", "rv/a", "flows", "io/channels", "runs", "journal/verification", "replay", "why", "explain", "graph", "graph/trace"]
    for (const path of reads) assert.deepStrictEqual(problem(await ask(`${space}/${path}`)), [404, "slice/absent"], path)
    assert.deepStrictEqual(problem(await ask("/v1/flows")), [404, "slice/absent"])
    const { body } = await post(`${space}/flows`, { flow: "a" })
    assert.include((body as { readonly detail: string }).detail, "Take \"flows\" out of the field without of the configuration")
    assert.deepStrictEqual(accidents, [])
  })

  test("has all other routes, and says of no other path that it belongs to a slice", async ({ ask, put }) => {
    for (const path of ["/v1/spaces/shop/rvs", "/v1/flow"]) assert.deepStrictEqual(problem(await ask(path)), [404, "route/absent"], path)
    await put("/v1/spaces/shop/cells/data/one", 1)
    assert.strictEqual((await ask("/v1/spaces/shop/cells/data/one")).body, 1)
    assert.strictEqual((await ask("/v1/spaces/shop/ops")).status, 200)
  })

  it("knows the slice of a path by the table", () => {
    const without = (path: string) => absentAt(Slices.all.filter(({ name }) => name !== "graph"), path)?.slice
    assert.strictEqual(without("/v1/spaces/shop/graph"), "graph")
    assert.strictEqual(without("/v1/spaces/shop/graph/trace"), "graph")
    for (const path of ["/v1/spaces/shop/graphs", "/v1/spaces/shop", "/v1/spaces/shop/rv", "/"]) assert.isUndefined(without(path), path)
  })
})
