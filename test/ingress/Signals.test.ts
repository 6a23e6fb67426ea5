import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import { problem, serve, signal, signals, test } from "./TestIngress.ts"

/** The problem of an event that ended without success. */
interface Ended {
  readonly detail: string
  readonly event: { readonly id: string; readonly status: string }
}

describe("Signals over HTTP", () => {
  describe("POST signals", () => {
    test("answers 202 with the id, the beat and the location of the receipt", async ({ ask, post }) => {
      const { body, headers, status } = await post(signals, signal)
      assert.strictEqual(status, 202)
      assert.deepStrictEqual(body, { id: "x.0.0", beat: 0, duplicate: false, receipt: "/v1/spaces/shop/receipts/x.0.0" })
      assert.strictEqual(headers.get("location"), "/v1/spaces/shop/receipts/x.0.0")
      const receipt = await ask("/v1/spaces/shop/receipts/x.0.0", { headers: { prefer: "wait=5" } })
      assert.strictEqual(receipt.status, 200)
      assert.strictEqual((receipt.body as { status: string }).status, "handled")
    })

    test("answers 200 with the receipt if the request waits", async ({ post }) => {
      const { body, headers, status } = await post(signals, { ...signal, payload: { a: [1] } }, { prefer: "wait=5" })
      const { handlings, status: outcome } = body as { status: string; handlings: ReadonlyArray<Record<string, unknown>> }
      assert.deepStrictEqual([status, outcome], [200, "handled"])
      assert.strictEqual(headers.get("preference-applied"), "wait=5")
      assert.deepInclude(handlings[0], { enzyme: "count", outcome: "ok", value: { seen: { a: [1] } } })
    })

    test("answers 202 after the time-out of the wait", async ({ post }) => {
      const { body, status } = await post(signals, { ...signal, at: { ms: 3_600_000 } }, { prefer: "wait=0" })
      assert.strictEqual(status, 202)
      assert.isString((body as { receipt: string }).receipt)
    })

    test("handles a signal once, with its id in the header or in the body", async ({ ask, post }) => {
      const first = await post(signals, signal, { "idempotency-key": "\"order-17\"", prefer: "wait=5" })
      const second = await post(signals, { ...signal, id: "order-17" }, { prefer: "wait=5" })
      assert.deepStrictEqual(second.body, first.body)
      assert.strictEqual((await ask("/v1/spaces/shop/cells/data/count")).body, 1)
      const repeated = await post(signals, { ...signal, id: "order-17" })
      assert.deepInclude(repeated.body, { duplicate: true })
    })

    test("refuses a repeated id with different content", async ({ post }) => {
      await post(signals, { ...signal, id: "order-17" })
      assert.deepStrictEqual(problem(await post(signals, { ...signal, payload: 2, id: "order-17" })), [422, "signal/id-reused"])
      assert.deepStrictEqual(problem(await post(signals, { ...signal, id: "a" }, { "idempotency-key": "b" })), [400, "signal/id-unequal"])
    })

    test("answers 422 with the code of the dead letter and the place of the receipt, without a stack", async ({ ask, post }) => {
      const dead = await post(signals, { signal: "/signals/broken" }, { prefer: "wait=5" })
      assert.deepStrictEqual(problem(dead), [422, "run/failed"])
      assert.deepInclude((dead.body as Ended).event, { id: "x.0.0", status: "dead" })
      for (const part of ["no luck", "x.0.0", "\"broken\""]) assert.include((dead.body as Ended).detail, part)
      assert.notInclude(JSON.stringify(dead.body), "    at ")
      assert.strictEqual(dead.headers.get("cache-control"), "no-store")
      const receipt = await ask(dead.headers.get("location") ?? "")
      assert.strictEqual(receipt.status, 200)
      assert.deepInclude(receipt.body, { id: "x.0.0", status: "dead" })
    })

    test("answers a second delivery with the status of the first, until its dead letter is sent again", async ({ ask, post }) => {
      const deliver = (signal: string, id: string) => post(signals, { signal, id }, { prefer: "wait=5" })
      for (const [signal, status] of [["/signals/broken", 422], ["/signals/none", 404], ["/signals/count", 200]] as const) {
        const [first, second] = [await deliver(signal, signal), await deliver(signal, signal)]
        assert.deepStrictEqual([first.status, second.status], [status, status])
        assert.deepStrictEqual((second.body as Ended).event, (first.body as Ended).event)
        assert.strictEqual(second.headers.get("location"), first.headers.get("location"))
      }
      assert.strictEqual((await ask("/v1/spaces/shop/cells/data/count")).body, 1)
    })

    test("explains a signal without a matching enzyme", async ({ ask, post }) => {
      const unheard = await post(signals, { signal: "/signals/cuont", target: "/data/x" }, { prefer: "wait=5" })
      assert.deepStrictEqual(problem(unheard), [404, "signal/no-match"])
      const { detail, event } = unheard.body as Ended
      const parts = ["/signals/cuont", "/data/x", "nearest query is /signals/count.", "bind", "/v1/enzymes"]
      for (const part of parts) assert.include(detail, part)
      assert.notInclude(((await post(signals, { signal: "/signals/other" }, { prefer: "wait=5" })).body as Ended).detail, "nearest")
      const later = (await ask(unheard.headers.get("location") ?? "")).body as { reason: string }
      for (const part of [event.id, "/v1/enzymes"]) assert.include(later.reason, part)
      assert.notProperty((await post(signals, signal, { prefer: "wait=5" })).body, "reason")
    })

    it.live("reports enzymes with a cyclic order", () =>
      Effect.flatMap(
        serve({ enzymes: [["a", "b"], ["b", "a"]].map(
          ([name = "", before = ""]) => Enzyme.make({ name, query: "/signals/round", before: [before], run: () => 1 })
        ) }),
        ({ post }) =>
          Effect.promise(async () => {
            const cyclic = await post(signals, { signal: "/signals/round" }, { prefer: "wait=5" })
            assert.deepStrictEqual(problem(cyclic), [409, "registry/cycle"])
            for (const part of ["/signals/round", "before and after"]) assert.include((cyclic.body as Ended).detail, part)
          })
      ))

    test("refuses a body that is not a signal", async ({ ask, post }) => {
      assert.deepStrictEqual(problem(await post(signals, {})), [400, "signal/invalid"])
      assert.deepStrictEqual(problem(await post(signals, { signal: 1 })), [400, "body/malformed"])
      assert.deepStrictEqual(problem(await post(signals, { target: "no slash" })), [400, "address/invalid"])
      assert.deepStrictEqual(
        problem(await ask(signals, { method: "POST", body: "{", headers: { "content-type": "application/json" } })),
        [400, "body/malformed"]
      )
      const forged = `{"signal":"/s","payload":{"__proto__":1}}`
      assert.deepStrictEqual(
        problem(await ask(signals, { method: "POST", body: forged, headers: { "content-type": "application/json" } })),
        [400, "value/invalid"]
      )
      assert.deepStrictEqual(problem(await ask(signals, { method: "POST", body: "x" })), [415, "body/media-type"])
      assert.deepStrictEqual(problem(await post(signals, { signal: "/s", payload: "a".repeat(1_048_577) })), [413, "body/too-large"])
      assert.deepStrictEqual(problem(await post("/v1/spaces/Shop/signals", signal)), [400, "space/name"])
    })
  })

  describe("receipts", () => {
    test("answers 404 for the receipt of an unknown signal", async ({ ask, post }) => {
      await post(signals, signal)
      assert.deepStrictEqual(problem(await ask("/v1/spaces/shop/receipts/x.9.9")), [404, "receipt/absent"])
    })
  })
})
