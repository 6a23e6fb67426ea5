import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, Enzyme, type IoResult, Reactor, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"

const MINUTE = 60_000

/** Makes the request of its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  return tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/ask/done", ...payload as object })
}, { query: "/signals/ask", match: "prefix" })

/** Awaits the request of its payload. */
const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const code = (error: unknown) => (error as { readonly code: string }).code
    return tx.io.request({ channel: "bank", opcode: "charge", ...payload as object }).then(({ value }) => value, code)
  }
})

const results = (space: Space) => Effect.map(space.get("/data/results"), (found) =>
  ((found ?? []) as unknown as ReadonlyArray<IoResult>).map(({ code, state, uncertain }) => [state, code, uncertain]))

const channels = { bank: { opcodes: { charge: { repeatable: true }, once: {} } } }

/** A request that is in progress when its process ends, with a deadline that is over an hour later. */
const overdue: ReadonlyArray<readonly [name: string, payload: object]> = [
  ["in milliseconds", { timeoutMs: MINUTE }],
  ["in milliseconds as a time", { timeoutMs: "1m" }],
  ["in beats", { budget: 5 }],
  ["in beats as a time", { budget: "500ms" }],
  ["of an opcode that is not repeatable", { opcode: "once", timeoutMs: MINUTE }]
]

describe("A request whose deadline is over", () => {
  it.effect.each(overdue)("%s is not made again at a start", ([, payload]) => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([ask, pay], reactor.layer)
    const first = yield* Effect.flatMap(machine.boot({ pace: "demand", tempo: 100 }), (kernel) => kernel.space("test", { create: true }))
    yield* first.signal({ signal: "/signals/ask", payload })
    const { id } = yield* first.signal({ signal: "/signals/pay", payload })
    yield* turns()
    assert.lengthOf(reactor.jobs, 2)
    reactor.crash()
    // The first process writes nothing any more.
    yield* machine.hold("test")
    yield* TestClock.adjust(60 * MINUTE)
    const kernel = yield* machine.boot({ pace: "demand", tempo: 100 })
    yield* machine.release("test")
    const space = yield* kernel.space("test")
    yield* turns()
    assert.lengthOf(reactor.submitted, 2)
    assert.deepStrictEqual(yield* results(space), [["fail", "io/timeout", true]])
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "io/timeout")
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("is made again before", () => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([ask], reactor.layer)
    const first = yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    yield* first.signal({ signal: "/signals/ask", payload: { timeoutMs: MINUTE, budget: 5 } })
    yield* first.step
    reactor.crash()
    yield* TestClock.adjust(MINUTE - 1)
    yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    assert.lengthOf(reactor.submitted, 2)
  }).pipe(Effect.scoped))

  it.effect("has no job when its channel has room for it", () => Effect.gen(function*() {
    const begun: Array<string> = []
    let end = (): void => {}
    const busy: Channel.Channel = {
      id: "bank", provider: "busy", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { charge: {} },
      execute: ({ rid }) => {
        begun.push(rid)
        return new Promise((resolve) => end = () => resolve({}))
      }
    }
    const machine = yield* RestartableKernel.make([ask], Reactor.native([busy]))
    const space = yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    for (const payload of [{}, { timeoutMs: 50 }]) yield* space.signal({ signal: "/signals/ask", payload })
    yield* steps(space, 2)
    yield* turns()
    yield* TestClock.adjust(50)
    end()
    yield* turns()
    assert.lengthOf(begun, 1)
    yield* steps(space, 3)
    assert.deepStrictEqual(yield* results(space), [["complete", undefined, undefined], ["fail", "io/timeout", true]])
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("has no job either if its beat is durable only then", () => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([ask], reactor.layer)
    const space = yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    yield* space.signal({ signal: "/signals/ask", payload: { timeoutMs: 50 } })
    yield* machine.hold("test")
    yield* Effect.forkChild(space.step, { startImmediately: true })
    yield* turns()
    yield* TestClock.adjust(50)
    yield* machine.release("test")
    yield* turns()
    assert.lengthOf(reactor.submitted, 0)
    yield* steps(space, 2)
    assert.deepStrictEqual(yield* results(space), [["fail", "io/timeout", true]])
  }).pipe(Effect.scoped))
})
