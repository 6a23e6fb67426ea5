import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { problem, serve, type TestIngress } from "./TestIngress.ts"

const fix = Enzyme.make({
  name: "fix",
  query: "/signals/fix",
  run: (tx, event) => {
    if (tx.get("/data/mended") === undefined) throw new TypeError("not yet")
    tx.append("/data/fixed", event.payload)
  }
})

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ enzymes: [fix] }), (app) => Effect.promise(() => run(app))))

const space = "/v1/spaces/shop"

/** The letters of a list, by the id in their payload. */
interface List {
  readonly letters: ReadonlyArray<{ readonly id: string; readonly enzyme: string; readonly code: string }>
  readonly next: string | null
}

describe("Dead letters over HTTP", () => {
  test("are listed page by page, shown and redelivered", async ({ ask, post, put }) => {
    for (const n of [1, 2, 3]) await post(`${space}/signals`, { signal: "/signals/fix", payload: { n } }, { prefer: "wait=5" })
    const first = (await ask(`${space}/dead?limit=2`)).body as List
    assert.deepStrictEqual(first.letters.map(({ code, enzyme }) => [code, enzyme]), [["run/failed", "fix"], ["run/failed", "fix"]])
    const rest = (await ask(`${space}/dead?after=${encodeURIComponent(first.next!)}`)).body as List
    assert.lengthOf(rest.letters, 1)
    assert.isNull(rest.next)
    const { id } = rest.letters[0]!
    const shown = await ask(`${space}/dead/${id}/fix`)
    assert.deepInclude(
      shown.body as object,
      { id, enzyme: "fix", signal: "/signals/fix", payload: { n: 3 }, message: "not yet", tag: "TypeError" }
    )
    await put(`${space}/cells/data/mended`, true)
    const sent = await ask(`${space}/dead/${id}/fix/redelivery`, { method: "POST" })
    assert.strictEqual(sent.status, 202)
    const receipt = await ask(sent.headers.get("location")!, { headers: { prefer: "wait=5" } })
    assert.strictEqual((receipt.body as { readonly status: string }).status, "handled")
    assert.deepStrictEqual((await ask(`${space}/cells/data/fixed`)).body, [{ n: 3 }])
    assert.lengthOf(((await ask(`${space}/dead`)).body as List).letters, 2)
  })

  test("are answered with 404 if they do not exist", async ({ ask, post }) => {
    await post(`${space}/signals`, { signal: "/signals/fix", payload: 1 }, { prefer: "wait=5" })
    for (const path of ["dead/x.0.9/fix", "dead/x.0.0/other"]) {
      assert.deepStrictEqual(problem(await ask(`${space}/${path}`)), [404, "dead/absent"], path)
      assert.deepStrictEqual(problem(await ask(`${space}/${path}/redelivery`, { method: "POST" })), [404, "dead/absent"], path)
    }
    assert.deepStrictEqual(problem(await ask(`${space}/dead?after=x`)), [400, "query/invalid"])
    assert.deepStrictEqual(problem(await ask(`${space}/dead?limit=x`)), [400, "query/invalid"])
    assert.deepStrictEqual(problem(await ask("/v1/spaces/nowhere/dead")), [404, "space/unknown"])
  })
})
