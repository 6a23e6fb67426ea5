import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, type IoResult, Reactor, type Settings, type Space } from "systole"
import { TestReactor } from "systole/testing"
import { channel } from "../../plugins/timer.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"

const HOUR = 3_600_000

/** Asks for waits, and keeps the moments at which they ended. */
const wait = enzyme("wait", (tx, { payload, signal }) => {
  if (signal === "/signals/wait/over") return tx.append("/data/over", { at: tx.now, ...(payload as unknown as IoResult) })
  return tx.io.request({ channel: "timer", opcode: "sleep", signal: "/signals/wait/over", ...(payload as object) })
}, { query: "/signals/wait", match: "prefix" })

const cancel = enzyme("cancel", (tx, { payload }) => tx.io.cancel(String(payload)))

/** The ends of the waits: the time of the beat that heard of it, the state, and the value. */
const over = (space: Space) => Effect.map(space.get("/data/over"), (found) =>
  ((found ?? []) as unknown as ReadonlyArray<IoResult & { readonly at: number }>).map(({ at, state, value }) => [at, state, value]))

/** Asks for a wait in a space. */
const ask = (space: Space, payload: object, more: object = {}) =>
  Effect.andThen(space.signal({ signal: "/signals/wait", payload: { payload, ...more } }), turns())

const restartable = (reactor = Reactor.native([{ ...channel, id: "timer" }])) => RestartableKernel.make([wait, cancel], reactor)

const demand: Partial<Settings> = { pace: "demand", create: "on-demand" }

/** Moves the clock, and lets the beats run that are due then. */
const move = (millis: number) => Effect.andThen(TestClock.adjust(millis), turns())

/** A channel that delays requests, and whose jobs end when the test says so. */
const delaying = (notBefore: Channel.Definition["notBefore"]) =>
  new TestReactor({ timer: { opcodes: { sleep: { repeatable: true }, once: {} }, ...notBefore === undefined ? {} : { notBefore } } })

describe("A delayed request", () => {
  it.effect("ends at its moment, and its beat tells the same", () => Effect.gen(function*() {
    const kernel = yield* Effect.flatMap(restartable(), (machine) => machine.boot(demand))
    const space = yield* kernel.space("shop")
    yield* move(500)
    yield* ask(space, { ms: 1000 })
    yield* ask(space, { until: 900 })
    yield* ask(space, { until: 5 })
    assert.deepStrictEqual(yield* over(space), [[500, "complete", { until: 500 }]])
    yield* move(399)
    assert.lengthOf(yield* over(space), 1)
    yield* move(1)
    yield* move(599)
    assert.deepStrictEqual((yield* over(space)).slice(1), [[900, "complete", { until: 900 }]])
    yield* move(1)
    assert.deepStrictEqual((yield* over(space)).slice(2), [[1500, "complete", { until: 1500 }]])
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("keeps its moment over restarts, and no space is open until then", () => Effect.gen(function*() {
    const machine = yield* restartable()
    const first = yield* machine.boot(demand)
    yield* Effect.flatMap(first.space("shop"), (space) => ask(space, { ms: HOUR }))
    for (let life = 0; life < 3; life++) {
      const kernel = yield* machine.boot(demand)
      yield* kernel.resume
      yield* move(HOUR / 4)
      assert.deepStrictEqual(machine.openings(), [])
    }
    const kernel = yield* machine.boot(demand)
    yield* kernel.resume
    // An open space goes on with the same wait.
    const space = yield* kernel.space("shop")
    yield* move(HOUR / 4 - 1)
    assert.deepStrictEqual(yield* over(space), [])
    yield* move(1)
    assert.deepStrictEqual(yield* over(space), [[HOUR, "complete", { until: HOUR }]])
  }).pipe(Effect.scoped))

  it.effect("opens its space at its moment by itself, and ends at once if that is over", () => Effect.gen(function*() {
    const machine = yield* restartable()
    const first = yield* machine.boot(demand)
    for (const name of ["shop", "late"]) yield* Effect.flatMap(first.space(name), (space) => ask(space, { ms: HOUR }))
    const second = yield* machine.boot(demand)
    yield* second.resume
    yield* move(HOUR)
    assert.sameMembers([...machine.openings()], ["shop", "late"])
    assert.lengthOf(yield* over(yield* second.space("shop")), 1)
    yield* Effect.flatMap(second.space("late"), (space) => ask(space, { ms: HOUR }))
    yield* machine.boot(demand)
    yield* move(2 * HOUR)
    const third = yield* machine.boot(demand)
    yield* third.resume
    yield* turns()
    const ends = yield* over(yield* third.space("late"))
    assert.deepStrictEqual(ends.map(([, state, value]) => [state, value]), [
      ["complete", { until: HOUR }], ["complete", { until: 2 * HOUR }]
    ])
  }).pipe(Effect.scoped))

  it.effect("leaves its space to close and to open for others, which do not end it", () => Effect.gen(function*() {
    const machine = yield* restartable()
    const kernel = yield* machine.boot({ ...demand, open: 1 })
    yield* Effect.flatMap(kernel.space("shop"), (space) => ask(space, { ms: HOUR }))
    for (const name of ["a", "b", "shop", "c"]) yield* Effect.andThen(Effect.flatMap(kernel.space(name), (space) => space.idle), turns())
    assert.isFalse(machine.open().has("shop"))
    yield* move(HOUR)
    assert.lengthOf(yield* over(yield* kernel.space("shop")), 1)
  }).pipe(Effect.scoped))

  it.effect("begins in a space whose beats run by hand", () => Effect.gen(function*() {
    const reactor = delaying(({ issued }) => issued + 60_000)
    const kernel = yield* Effect.flatMap(restartable(reactor.layer), (machine) => machine.boot({ create: "on-demand", pace: "manual" }))
    const space = yield* kernel.space("shop")
    yield* ask(space, {})
    yield* steps(space, 2)
    assert.lengthOf(reactor.jobs, 0)
    yield* move(59_999)
    yield* steps(space, 2)
    assert.lengthOf(reactor.jobs, 0)
    yield* move(1)
    assert.deepStrictEqual(reactor.jobs.map(({ issued }) => issued), [0])
  }).pipe(Effect.scoped))

  it.effect("has no job if it is cancelled or misses its deadline", () => Effect.gen(function*() {
    const reactor = delaying(({ issued }) => issued + 60_000)
    const machine = yield* restartable(reactor.layer)
    const kernel = yield* machine.boot(demand)
    const space = yield* kernel.space("shop")
    yield* ask(space, {})
    yield* ask(space, {}, { timeoutMs: 30_000 })
    const [rid] = yield* space.list("/sys/index/io")
    yield* space.signal({ signal: "/signals/cancel", payload: rid })
    yield* turns()
    yield* move(30_000)
    assert.deepStrictEqual((yield* over(space)).map(([, state]) => state), ["cnl", "fail"])
    assert.isUndefined(kernel.due("shop"))
    yield* move(60_000)
    assert.lengthOf(reactor.submitted, 0)
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("waits through a pause, a restart and a resume, and ends at its moment", () => Effect.gen(function*() {
    const machine = yield* restartable()
    const first = yield* machine.boot(demand)
    const before = yield* first.space("shop")
    yield* ask(before, { ms: HOUR })
    yield* ask(before, { ms: 1000 })
    yield* Effect.forkChild(before.control.pause(), { startImmediately: true })
    yield* move(100)
    assert.deepStrictEqual([(yield* before.control.state).state, yield* over(before)], ["paused", []])
    yield* move(2000)
    const kernel = yield* machine.boot(demand)
    yield* kernel.resume
    const space = yield* kernel.space("shop")
    yield* turns()
    assert.deepStrictEqual(yield* over(space), [])
    yield* Effect.forkChild(space.control.resume(), { startImmediately: true })
    for (let beat = 0; beat < 4; beat++) yield* move(100)
    assert.deepStrictEqual((yield* over(space)).map(([, state, value]) => [state, value]), [["complete", { until: 1000 }]])
    yield* move(HOUR - 2501)
    assert.lengthOf(yield* over(space), 1)
    yield* move(1)
    assert.deepStrictEqual((yield* over(space))[1], [HOUR, "complete", { until: HOUR }])
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("is none whose opcode is not repeatable, or whose channel names no moment", () => Effect.gen(function*() {
    const asked: Array<string> = []
    const reactor = delaying(({ issued, opcode, payload }) => {
      asked.push(opcode)
      if (payload === "bad") throw new Error("bad")
      return payload === "never" ? Infinity : issued + 60_000
    })
    const kernel = yield* Effect.flatMap(restartable(reactor.layer), (machine) => machine.boot(demand))
    const space = yield* kernel.space("shop")
    for (const payload of ["bad", "never"]) yield* ask(space, payload as unknown as object)
    yield* ask(space, {}, { opcode: "once" })
    assert.lengthOf(reactor.jobs, 3)
    assert.deepStrictEqual(asked, ["sleep", "sleep"])
  }).pipe(Effect.scoped))
})
