import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Kernel, Reaction, type Settings, type Space } from "systole"
import { TestReactor } from "systole/testing"
import { Imports } from "../../src/archive/Imports.ts"
import { hash } from "../frame/Frames.ts"
import { labels, open } from "../kernel/beat/LabelledSpace.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun, enzyme, replays, steps, through, turns } from "../kernel/TestSpace.ts"
import { present } from "../support/Present.ts"
import { bring, frameOf, type Node as Host } from "./Nodes.ts"

const HOUR = 3_600_000

/** Pays, sleeps for an hour, and tells the times of its steps. */
const order = enzyme("order", async (tx, { payload }) => {
  tx.append("/data/steps", `${payload} began`)
  const { value } = await tx.io.request({ channel: "bank", opcode: "pay", payload })
  tx.append("/data/steps", `${payload} paid ${String(value)}`)
  await tx.sleep("1h")
  tx.append("/data/steps", `${payload} ended`)
}, { durable: true })

const settings: Partial<Settings> = { boot: true, create: "on-demand" }

const bank = () => new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } })

const hostOf = (kernel: Kernel["Service"]): Host => ({
  kernel, hash, fork: Effect.runFork, imports: new Imports({ kernel, hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
})

const stepsOf = (space: Space) => space.get("/data/steps")

const run = (space: Space) => Effect.andThen(steps(space, 3), turns())

/** Posts an order in a space and runs it to its request. */
const ordered = Effect.fnUntraced(function*(kernel: Kernel["Service"]) {
  const a = yield* kernel.space("a")
  yield* steps(a, 8)
  yield* a.signal({ signal: "/signals/order", payload: "x" })
  yield* run(a)
  return a
})

describe("a durable run in flight", () => {
  for (const why of ["copy", "restore"] as const) {
    it.effect(`N32 goes on at its request after a ${why} and a restart, with its key, once it is released`, () => Effect.gen(function*() {
      const reactor = bank()
      const machine = yield* RestartableKernel.make([order], reactor.layer)
      const first = yield* machine.boot(settings)
      yield* ordered(first)
      const { key } = present(reactor.submitted[0])
      const frame = yield* frameOf(hostOf(first), "a")
      yield* first.remove("a")
      reactor.crash()
      yield* bring(hostOf(first), "b", { frames: [frame], why })
      const second = yield* machine.boot(settings)
      const b = yield* second.space("b")
      yield* run(b)
      assert.lengthOf(reactor.jobs, 0)
      assert.deepStrictEqual(yield* stepsOf(b), ["x began"])
      yield* begun(b, b.control.releaseDetached())
      yield* turns()
      assert.deepStrictEqual(reactor.jobs.map((job) => job.key), [key])
      reactor.complete(present(reactor.jobs[0]).rid, { value: 5 })
      yield* run(b)
      assert.deepStrictEqual(yield* stepsOf(b), ["x began", "x paid 5"])
      yield* TestClock.adjust(HOUR)
      yield* run(b)
      assert.deepStrictEqual(yield* stepsOf(b), ["x began", "x paid 5", "x ended"])
      // A later order has a key of the new incarnation.
      yield* b.signal({ signal: "/signals/order", payload: "y" })
      yield* run(b)
      assert.notStrictEqual(present(reactor.jobs[0]).key, key)
      yield* replays(b)
    }).pipe(Effect.scoped))

    it.effect(`N32 ends its sleep late after a ${why}`, () => Effect.gen(function*() {
      const reactor = bank()
      const machine = yield* RestartableKernel.make([order], reactor.layer)
      const first = yield* machine.boot(settings)
      const a = yield* ordered(first)
      reactor.complete(present(reactor.jobs[0]).rid, { value: 5 })
      yield* run(a)
      const frame = yield* frameOf(hostOf(first), "a")
      yield* first.remove("a")
      yield* TestClock.adjust(24 * HOUR)
      const { space: b } = yield* bring(hostOf(first), "b", { frames: [frame], why })
      yield* run(b)
      yield* begun(b, b.control.releaseDetached())
      yield* run(b)
      assert.deepStrictEqual(yield* stepsOf(b), ["x began", "x paid 5", "x ended"])
      assert.lengthOf(reactor.submitted, 1)
      yield* replays(b)
    }).pipe(Effect.scoped))
  }
})

const tick = enzyme("tick", (tx, { payload }) => tx.append("/data/ticks", (payload as { readonly due: number }).due), {
  schedule: { every: "1h", spaces: ["a"] }
})
const note = enzyme("note", (tx, { payload }) => tx.append("/data/notes", payload))

/** A space with a schedule, and two delayed signals of which the second is due after a day. */
const timed = Effect.fnUntraced(function*(kernel: Kernel["Service"]) {
  const a = yield* kernel.space("a")
  yield* steps(a, 8)
  yield* TestClock.adjust(HOUR)
  yield* steps(a, 3)
  yield* a.signal({ signal: "/signals/note", payload: "soon", at: { ms: HOUR / 2 } })
  yield* a.signal({ signal: "/signals/note", payload: "late", at: { ms: 24 * HOUR } })
  yield* a.step
  return a
})

describe("the timers of a detached space", () => {
  for (const jump of [0, 3 * HOUR, -3 * HOUR]) {
    it.effect(`do not fire before its release, and once after it, when the clock of its host jumps by ${jump / HOUR} hours`, () =>
      Effect.gen(function*() {
        const machine = yield* RestartableKernel.make([tick, note])
        const first = yield* machine.boot(settings)
        yield* timed(first)
        const frame = yield* frameOf(hostOf(first), "a")
        yield* first.remove("a")
        const { space: restored } = yield* bring(hostOf(first), "a", { frames: [frame], why: "restore" })
        yield* run(restored)
        const before = yield* restored.get("/data/ticks")
        yield* machine.clock.set(jump)
        yield* TestClock.adjust(2 * HOUR)
        const space = yield* (yield* machine.boot(settings)).space("a")
        yield* run(space)
        assert.deepStrictEqual([yield* space.get("/data/ticks"), yield* space.get("/data/notes")], [before, undefined])
        yield* begun(space, space.control.releaseDetached())
        yield* TestClock.adjust(6 * HOUR)
        yield* run(space)
        const ticks = (yield* space.get("/data/ticks")) as ReadonlyArray<number>
        assert.deepStrictEqual(ticks, [...new Set(ticks)].toSorted((a, b) => a - b))
        assert.isAbove(ticks.length, (before as ReadonlyArray<number>).length)
        assert.deepStrictEqual(yield* space.get("/data/notes"), ["soon"])
        yield* replays(space)
      }).pipe(Effect.scoped))
  }
})

const change = enzyme("change", (tx, { payload }) => tx.set("/data/in", payload))

describe("a detached space", () => {
  it.effect("tells no effect before its release, and rolls back to a beat of its original without a release", () => Effect.gen(function*() {
    const told: Array<unknown> = []
    const tell = Reaction.make({ name: "tell", read: (tx) => tx.get("/data/in"), deliver: (value) => void told.push(value) })
    const machine = yield* RestartableKernel.make([change, tell])
    const first = yield* machine.boot(settings)
    const a = yield* first.space("a")
    yield* steps(a, 8)
    const set = (space: Space, payload: number) => Effect.andThen(space.signal({ signal: "/signals/change", payload }), run(space))
    yield* set(a, 1)
    yield* set(a, 2)
    const born = yield* a.get("/sys/state/born")
    const head = yield* a.head
    const { space: b } = yield* bring(hostOf(first), "b", { frames: [yield* frameOf(hostOf(first), "a")] })
    yield* run(b)
    const now = told.length
    yield* set(b, 3)
    yield* through(b, b.control.pause())
    yield* through(b, b.control.rollback(head - 3))
    yield* through(b, b.control.resume())
    assert.strictEqual(yield* b.get("/data/in"), 1)
    assert.property(yield* b.control.state, "detached")
    assert.notStrictEqual(yield* b.get("/sys/state/born"), born)
    assert.lengthOf(told, now)
    yield* begun(b, b.control.releaseDetached())
    yield* set(b, 4)
    assert.deepStrictEqual(told.slice(now), [4])
    yield* replays(b)
  }).pipe(Effect.scoped))

  it.effect("shows a reader the same as its original, before and after its first beat and its release", () => Effect.gen(function*() {
    const spy = enzyme("spy", (tx) => void tx.get("/data/pay/ann"))
    const machine = yield* RestartableKernel.make([spy])
    const kernel = yield* machine.boot({ ...settings, labels })
    const a = yield* kernel.space("a")
    yield* steps(a, 8)
    for (const [address, value] of [["/data/pay/ann", 5], ["/data/free", 1]] as const) yield* begun(a, a.set(address, value))
    const { id } = yield* a.signal({ signal: "/signals/spy" })
    yield* a.step
    const told = (space: Space) => Effect.gen(function*() {
      const reader = space.reader(open)
      const [secret, free] = [yield* Effect.result(reader.get("/data/pay/ann")), yield* reader.get("/data/free")]
      const { keys } = yield* reader.below("/data", { limit: 50 })
      return [secret._tag === "Failure" ? secret.failure.code : secret.success, free, keys, yield* reader.receipt(id)]
    })
    const before = yield* told(a)
    assert.deepStrictEqual([before[1], before[2]], [1, ["/data/free"]])
    const frame = yield* frameOf(hostOf(kernel), "a")
    const { space: b } = yield* bring(hostOf(kernel), "b", { frames: [frame], why: "restore" })
    assert.deepStrictEqual(yield* told(b), before)
    yield* run(b)
    assert.deepStrictEqual(yield* told(b), before)
    yield* begun(b, b.control.releaseDetached())
    assert.deepStrictEqual(yield* told(b), before)
  }).pipe(Effect.scoped))
})
