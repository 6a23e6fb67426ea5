import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Channel, Enzyme, type IoResult, type Kernel, type Space, type Transaction, why } from "systole"
import { TestReactor } from "systole/testing"
import type { Reason } from "../../src/replay/Why.ts"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Asks by a signal, and sends the result on to another enzyme. */
const ask = enzyme("ask", (tx, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.signal({ signal: "/signals/note", payload: (payload as unknown as IoResult).value })
  return tx.io.request({ channel: "bank", opcode: "charge", payload, signal: "/signals/ask/done" })
}, { query: "/signals/ask", match: "prefix" })

const note = enzyme("note", (tx, { payload }) => tx.set("/data/noted", payload))
const forward = enzyme("forward", (tx, { payload }) => tx.signal({ signal: "/signals/ask", payload }))

/** Reads, asks twice, hears a signal, and writes at its end. */
const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  hears: [{ signal: "/signals/confirmed", target: "/data/order" }],
  run: async (tx: Transaction) => {
    const price = tx.get("/data/price")
    const first = await tx.io.request({ channel: "bank", opcode: "charge", payload: price })
    const refused = await tx.io.request({ channel: "bank", opcode: "charge" }).catch((error: Error) => error.message)
    tx.set("/data/middle", refused)
    const { payload } = await tx.waitForSignal("/signals/confirmed", "/data/order")
    tx.set("/data/paid", [first.value, payload])
  }
})

type Test<A, E> = (reactor: TestReactor, space: Space) => Effect.Effect<A, E, Kernel>

const inSpace = <A, E>(test: Test<A, E>, limits = TestKernel.settings.limits) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, note, forward, pay])
    yield* test(reactor, space)
  }).pipe(Effect.provide(TestKernel.layer({ limits }, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const reason = (space: Space, address: string): Effect.Effect<Reason | undefined, unknown> =>
  space.examine((history) => why(history, address))

const only = (found: Reason | undefined) => found?.writers[0] ?? assert.fail("there is no writer")

describe("why", () => {
  it.effect("goes from a cell over a completion to the request, and to the signal from outside", () => inSpace((reactor, space) =>
    Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/forward", payload: { cents: 5 } })
      yield* steps(space, 2)
      const rid = reactor.jobs[0]?.rid ?? ""
      yield* space.step
      reactor.complete(rid, { value: "receipt 1" })
      yield* steps(space, 3)
      const { by, chain, results } = only(yield* reason(space, "/data/noted"))
      assert.strictEqual(by, "note")
      assert.isUndefined(results)
      assert.deepStrictEqual(chain.map(({ beat, sentBy, signal }) => [signal, beat, sentBy]), [
        ["/signals/note", 5, "ask"], ["/signals/ask/done", 4, "commit"], ["/signals/ask", 1, "forward"], ["/signals/forward", 0, undefined]
      ])
      const request = { rid, channel: "bank", opcode: "charge", state: "complete", code: undefined, beat: 1, enzyme: "ask" }
      assert.deepStrictEqual(chain.map(({ request }) => request), [undefined, request, undefined, undefined])
      assert.strictEqual(chain.at(-1)?.id, id)
      const cell = only(yield* reason(space, `/rt/ops/OPS:io/io_req/${rid}`))
      assert.deepStrictEqual([cell.by, cell.chain.map(({ signal }) => signal)], ["capture", ["/signals/ask", "/signals/forward"]])
    })))

  for (const residentRuns of [0, 10]) {
    it.effect(`names the requests and signals of a durable run, with ${residentRuns} bodies in memory`, () => inSpace((reactor, space) =>
      Effect.gen(function*() {
        const { id } = yield* space.signal({ signal: "/signals/pay" })
        yield* space.step
        const first = reactor.jobs[0]?.rid ?? ""
        reactor.complete(first, { value: "receipt 1" })
        yield* space.step
        const second = reactor.jobs[0]?.rid ?? ""
        reactor.fail(second, Channel.fail("bank/declined", "no money"))
        yield* space.step
        const heard = yield* space.signal({ signal: "/signals/confirmed", target: "/data/order", payload: true })
        yield* steps(space, 2)
        const request = { channel: "bank", opcode: "charge", state: "complete", code: undefined, enzyme: "pay" }
        const failed = { ...request, rid: second, state: "fail", code: "bank/declined", beat: 1 }
        const asked = [
          { kind: "request", segment: 1, request: { ...request, rid: first, beat: 0 } }, { kind: "request", segment: 2, request: failed }
        ]
        const middle = only(yield* reason(space, "/data/middle"))
        assert.deepStrictEqual(middle.results as unknown, asked)
        const { by, chain, reads, results } = only(yield* reason(space, "/data/paid"))
        assert.strictEqual(by, "pay")
        assert.deepStrictEqual(results as unknown, [
          ...asked, { kind: "signal", segment: 3, id: heard.id, signal: "/signals/confirmed", target: "/data/order" }
        ])
        assert.deepStrictEqual(reads.map(({ address }) => address), ["/data/price"])
        assert.deepStrictEqual(chain.map(({ id, signal }) => [id, signal]), [[`${id}#/segment/3`, "/signals/pay"]])
      }), { ...TestKernel.settings.limits, residentRuns }))
  }
})
