import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { turns } from "../kernel/TestSpace.ts"
import { serve, type TestIngress } from "./TestIngress.ts"

const count = Enzyme.make({ name: "count", query: "/signals/count", run: (tx, event) => tx.set(
  "/data/count",
  { by: event.payload, before: tx.get("/data/count") ?? null }
) })

const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ enzymes: [count] }), (app) => Effect.promise(() => run(app))))

const space = "/v1/spaces/shop"

describe("The history of a space over HTTP", () => {
  test("is verified, replayed and explained", async ({ ask, post }) => {
    for (const payload of [1, 2]) await post(`${space}/signals`, { signal: "/signals/count", payload }, { prefer: "wait=5" })
    const verification = (await ask(`${space}/journal/verification`)).body as { readonly entries: number; readonly fault?: unknown }
    assert.strictEqual(verification.entries, 2)
    assert.isUndefined(verification.fault)
    const replayed = (await ask(`${space}/replay`)).body as { readonly beats: number; readonly difference?: unknown }
    assert.strictEqual(replayed.beats, 2)
    assert.isUndefined(replayed.difference)
    const why = (await ask(`${space}/why?address=${encodeURIComponent("/data/count#/by")}`)).body as {
      readonly value: unknown
      readonly before: unknown
      readonly writers: ReadonlyArray<{ readonly by: string }>
    }
    assert.deepStrictEqual([why.value, why.before, why.writers[0]?.by], [2, 1, "count"])
    const explained =
      (await ask(`${space}/explain?beat=1&enzyme=count`)).body as { readonly signals: ReadonlyArray<{ readonly verdict: string }> }
    assert.deepStrictEqual(explained.signals.map(({ verdict }) => verdict), ["ran"])
  })

  test("serves one query at a time, and cancels it when the client disconnects", async ({ accidents, ask, fetch, post }) => {
    for (let i = 0; i < 200; i++) await post(`${space}/signals`, { signal: "/signals/count", payload: i }, { prefer: "wait=5" })
    const leaving = new AbortController()
    const first = fetch(`${space}/replay`, { signal: leaving.signal })
    const second = await ask(`${space}/journal/verification`)
    assert.deepStrictEqual(
      [second.status, (second.body as { readonly code: string }).code, second.headers.get("retry-after")],
      [429, "history/busy", "1"]
    )
    leaving.abort()
    await first
    await Effect.runPromise(turns(4))
    const third = await ask(`${space}/journal/verification`)
    assert.strictEqual((third.body as { readonly entries: number }).entries, 200)
    assert.deepStrictEqual(accidents, [])
  })

  test("refuses invalid queries", async ({ ask, post }) => {
    await post(`${space}/signals`, { signal: "/signals/count", payload: 1 }, { prefer: "wait=5" })
    const refused = async (path: string) => ((await ask(`${space}/${path}`)).body as { readonly code: string }).code
    assert.strictEqual(await refused("why"), "query/invalid")
    assert.strictEqual(await refused("why?address=nowhere"), "address/invalid")
    assert.strictEqual(await refused("why?address=/data/never"), "cell/absent")
    assert.strictEqual(await refused("explain?beat=7&enzyme=count"), "beat/absent")
    assert.strictEqual(await refused("explain?beat=x&enzyme=count"), "query/invalid")
    assert.strictEqual(await refused("replay?from=-1"), "query/invalid")
    assert.strictEqual(await refused("replay?from=1&to=0"), "query/invalid")
    assert.strictEqual(await refused("replay?from=100"), "beat/absent")
    for (const query of ["last=0", "last=1&from=0", "last=1&to=0", "last=x"]) {
      assert.strictEqual(await refused(`replay?${query}`), "query/invalid", query)
    }
  })
})
