import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ features: [] }), (app) => Effect.promise(() => run(app))))

describe("The ingress of a build with a part of the features", () => {
  test("answers each route of an absent feature with feature/not-built, and says what to do", async ({ accidents, ask, post }) => {
    const space = "/v1/spaces/shop"
    const reads = ["rv", "rv/a", "flows", "io/channels", "runs", "journal/verification", "replay", "why", "explain", "graph", "graph/trace"]
    for (const path of reads) assert.deepStrictEqual(problem(await ask(`${space}/${path}`)), [501, "feature/not-built"], path)
    assert.deepStrictEqual(problem(await ask("/v1/flows")), [501, "feature/not-built"])
    const { body } = await post(`${space}/flows`, { flow: "a" })
    assert.include((body as { readonly detail: string }).detail, "features: [\"flows\"] to systole.config.ts, and build again")
    assert.deepStrictEqual(accidents, [])
  })

  test("has no routes of the debugger outside of development, and has all others", async ({ ask, put }) => {
    assert.deepStrictEqual(problem(await ask("/v1/spaces/shop/debug")), [404, "route/absent"])
    await put("/v1/spaces/shop/cells/data/one", 1)
    assert.strictEqual((await ask("/v1/spaces/shop/cells/data/one")).body, 1)
    assert.strictEqual((await ask("/v1/spaces/shop/ops")).status, 200)
  })
})
