import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { type Channel, type Kernel, Reactor, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = { bank: { opcodes: { pay: { repeatable: true } }, jobs: 2 } }

const pay = enzyme("pay", (tx: Transaction, { signal }) =>
  signal === "/signals/pay/done" ? undefined : tx.io.request({ channel: "bank", opcode: "pay", signal: "/signals/pay/done" }),
{ query: "/signals/pay", match: "prefix" })

/** Awaits room by the channel and the signal of its payload, and keeps the events that it hears. */
const watcher = (name: string) =>
  enzyme(name, (tx, { payload, signal }) => {
    if (signal === `/signals/${name}/room`) return tx.append(`/data/${name}`, payload)
    const { channel = "bank", then = `/signals/${name}/room` } = payload as { readonly channel?: string; readonly then?: string }
    tx.io.watch(channel, then)
  }, { query: `/signals/${name}`, match: "prefix" })

const [one, two] = [watcher("one"), watcher("two")]

const watchers = (space: Space) => space.get("/rt/ops/OPS:io/io_chan/bank/watchers")

/** The field `io` of a beat's entry in the journal. */
const captured = (space: Space, beat: number) =>
  Effect.map(space.journal(beat), (row) => (JSON.parse(row?.text ?? "{}") as { readonly io?: { readonly room?: unknown } }).io?.room)

const withReactor = <A, E>(test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor(channels)
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([pay, one, two])
    yield* test(space, reactor)
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const full = Effect.fnUntraced(function*(space: Space) {
  for (let i = 0; i < 2; i++) {
    yield* space.signal({ signal: "/signals/pay" })
    yield* space.step
  }
})

describe("Watchers of a channel", () => {
  it.effect("fire once when the full channel has room again, and are gone", () => withReactor((space, reactor) => Effect.gen(function*() {
    yield* full(space)
    for (const name of ["one", "two"]) yield* space.signal({ signal: `/signals/${name}`, payload: {} })
    yield* steps(space, 3)
    assert.deepStrictEqual(yield* watchers(space), {
      one: { signal: "/signals/one/room", depth: 1 }, two: { signal: "/signals/two/room", depth: 1 }
    })
    assert.isUndefined(yield* space.get("/data/one"))
    const [first, second] = reactor.jobs
    reactor.complete(first?.rid ?? "")
    assert.deepStrictEqual(yield* captured(space, yield* space.step), ["bank"])
    assert.deepStrictEqual(yield* watchers(space), {})
    yield* space.step
    reactor.complete(second?.rid ?? "")
    assert.isUndefined(yield* captured(space, yield* space.step))
    yield* steps(space, 2)
    for (const name of ["one", "two"]) assert.deepStrictEqual(yield* space.get(`/data/${name}`), [{ channel: "bank" }])
  })))

  it.effect("fire in the next beat if the channel has room, and again if they are added again", () => withReactor((space) =>
    Effect.gen(function*() {
      for (let times = 1; times <= 2; times++) {
        yield* space.signal({ signal: "/signals/one", payload: {} })
        yield* steps(space, 3)
        assert.deepStrictEqual(yield* space.get("/data/one"), Array.from({ length: times }, () => ({ channel: "bank" })))
      }
    })))

  it.effect("need a known channel, and a signal that their enzyme takes", () => withReactor((space) => Effect.gen(function*() {
    const wrong = [
      [{ channel: "none" }, "io/channel-absent"],
      [{ then: "/signals/nobody" }, "io/unheard"],
      [{ then: "" }, "signal/invalid"]
    ] as const
    for (const [payload, code] of wrong) {
      const { id } = yield* space.signal({ signal: "/signals/one", payload })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, code)
    }
    assert.isUndefined(yield* watchers(space))
  })))

  it.effect("outlive a restart", () => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([pay, one], reactor.layer)
    const before = yield* (yield* machine.boot()).space("cts", { create: true })
    yield* before.step
    yield* full(before)
    yield* before.signal({ signal: "/signals/one", payload: {} })
    yield* steps(before, 2)
    reactor.crash()
    const after = yield* (yield* machine.boot()).space("cts")
    yield* after.step
    assert.property(yield* watchers(after), "one")
    reactor.complete(reactor.jobs[0]?.rid ?? "")
    yield* steps(after, 3)
    assert.deepStrictEqual(yield* after.get("/data/one"), [{ channel: "bank" }])
    yield* replays(after)
  }).pipe(Effect.scoped))

  it.effect("hear of room from the queue of a real channel", () => {
    const ends: Array<() => void> = []
    const bank: Channel.Channel = {
      id: "bank", provider: "acme", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { pay: {} },
      execute: () => new Promise((resolve) => ends.push(() => resolve({})))
    }
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([pay, one])
      yield* full(space)
      yield* space.signal({ signal: "/signals/one", payload: {} })
      yield* space.step
      yield* turns()
      ends[0]?.()
      yield* turns()
      yield* steps(space, 2)
      // The second job waited, so the channel is still full.
      assert.isUndefined(yield* space.get("/data/one"))
      ends[1]?.()
      yield* turns()
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/one"), [{ channel: "bank" }])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: Reactor.native([bank]) }) as Layer.Layer<Kernel>))
  })
})
