import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, CurrentReporter, type IoResult, Kernel, Reactor, Reporter, type Space, type Told, type Transaction } from "systole"
import { enzyme, replays, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Makes requests by its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  const { times, ...more } = payload as { readonly times: number }
  for (let i = 0; i < times; i++) tx.io.request({ channel: "bank", opcode: "pay", signal: "/signals/ask/done", attempts: 1, ...more })
}, { query: "/signals/ask", match: "prefix" })

/** A channel for two jobs. Those of the space `bad` ignore their abort, and end when the test says so. */
const world = (timeoutMs?: number) => {
  const ends: Array<() => void> = []
  const told: Array<Told> = []
  const bank: Channel.Channel = {
    id: "bank", provider: "slow", hosts: ["node", "deno", "bun"], jobs: 2, opcodes: { pay: { repeatable: true } },
    ...timeoutMs === undefined ? {} : { timeoutMs },
    execute: ({ space }) => space === "bad" ? new Promise((resolve) => void ends.push(() => resolve({}))) : { value: space }
  }
  const layer = TestKernel.layer({}, undefined, { reactor: Reactor.native([bank]) }).pipe(
    Layer.provide(Layer.succeed(CurrentReporter, new Reporter((each) => void told.push(each))))
  ) as Layer.Layer<Kernel>
  return { ends, layer, told }
}

const beats = Effect.fnUntraced(function*(space: Space, count: number) {
  for (let beat = 0; beat < count; beat++) {
    yield* space.step
    yield* turns(4)
  }
})

/** Asks in a space, and runs beats in which a request with a budget of 2 beats has its result. */
const asks = (space: Space, times: number) =>
  Effect.andThen(space.signal({ signal: "/signals/ask", payload: { times, budget: 2 } }), beats(space, 6))

const codes = (space: Space) =>
  Effect.map(space.get("/data/results"), (found) =>
    ((found ?? []) as unknown as ReadonlyArray<IoResult>).map(({ code, state }) => code ?? state))

const doubts = (space: Space) =>
  Effect.map(space.get("/data/results"), (found) => (found as unknown as ReadonlyArray<IoResult>).map(({ uncertain }) => uncertain))

const shown = (space: Space) => Effect.map(space.io.channels, (rows) => rows.map(({ active, hung, state }) => ({ active, hung, state })))

/** The time that jobs have after their abort. */
const grace = Effect.andThen(TestClock.adjust("10 seconds"), turns(4))

describe("A channel with jobs that ignore their abort", () => {
  it.effect("has room for other spaces again, is reported once, and is shown as impaired", () => {
    const { ends, layer, told } = world()
    return Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(ask)
      const [bad, good] = [yield* kernel.space("bad"), yield* kernel.space("good")]
      yield* asks(bad, 2)
      assert.deepStrictEqual(yield* codes(bad), ["io/timeout", "io/timeout"])
      yield* good.signal({ signal: "/signals/ask", payload: { times: 1 } })
      yield* beats(good, 3)
      assert.deepStrictEqual(yield* codes(good), [])
      assert.deepStrictEqual(yield* shown(good), [{ active: 2, hung: 0, state: "sound" }])
      yield* grace
      yield* beats(good, 2)
      assert.deepStrictEqual(yield* codes(good), ["complete"])
      assert.deepStrictEqual(yield* shown(good), [{ active: 0, hung: 2, state: "impaired" }])
      const reports = told.filter(({ topic }) => topic === "io/channel-impaired")
      assert.deepStrictEqual(reports.map(({ note, severity, space }) => [severity, space, note]), [
        ["sev:crit", undefined, "a job of channel bank did not end within 10000 ms of its abort, so its room is given to others"]
      ])
      ends.forEach((end) => end())
      yield* turns(4)
      assert.deepStrictEqual(yield* shown(good), [{ active: 0, hung: 0, state: "sound" }])
      for (const space of [bad, good]) yield* replays(space)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends requests without a budget at the time of the channel, and then gives their room to others", () => {
    const { layer } = world(30_000)
    return Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(ask)
      const [bad, good] = [yield* kernel.space("bad"), yield* kernel.space("good")]
      yield* Effect.andThen(bad.signal({ signal: "/signals/ask", payload: { times: 2 } }), beats(bad, 3))
      yield* Effect.andThen(good.signal({ signal: "/signals/ask", payload: { times: 1 } }), beats(good, 3))
      assert.deepStrictEqual([yield* codes(bad), yield* codes(good)], [[], []])
      yield* Effect.andThen(TestClock.adjust("30 seconds"), turns(4))
      yield* beats(bad, 2)
      assert.deepStrictEqual(yield* codes(bad), ["io/timeout", "io/timeout"])
      // The job goes on, so it may have its effect.
      assert.deepStrictEqual(yield* doubts(bad), [true, true])
      assert.deepStrictEqual(yield* shown(good), [{ active: 2, hung: 0, state: "sound" }])
      yield* grace
      yield* beats(good, 2)
      assert.deepStrictEqual(yield* codes(good), ["complete"])
      for (const space of [bad, good]) yield* replays(space)
    }).pipe(Effect.provide(layer))
  })

  it.effect("refuses all requests with io/channel-stuck once they have taken its room twice, until one of them ends", () => {
    const { ends, layer } = world()
    return Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(ask)
      const [bad, good] = [yield* kernel.space("bad"), yield* kernel.space("good")]
      for (let i = 0; i < 2; i++) yield* Effect.andThen(asks(bad, 2), grace)
      assert.deepStrictEqual(yield* shown(good), [{ active: 0, hung: 4, state: "stuck" }])
      yield* good.signal({ signal: "/signals/ask", payload: { times: 2 } })
      yield* beats(good, 3)
      assert.deepStrictEqual(yield* codes(good), ["io/channel-stuck", "io/channel-stuck"])
      const [request] = (yield* good.io.list({ limit: 1 })).requests
      const { errno, note } = (yield* good.io.get(request?.rid ?? "")) as unknown as { readonly errno: number; readonly note: string }
      assert.strictEqual(errno, -16)
      assert.include(note, "channel bank takes no job, because 4 of its jobs did not end after their abort. Start the process again")
      ends[0]?.()
      yield* turns(4)
      yield* good.signal({ signal: "/signals/ask", payload: { times: 1 } })
      yield* beats(good, 3)
      assert.deepStrictEqual(yield* codes(good), ["io/channel-stuck", "io/channel-stuck", "complete"])
      for (const space of [bad, good]) yield* replays(space)
    }).pipe(Effect.provide(layer))
  })
})
