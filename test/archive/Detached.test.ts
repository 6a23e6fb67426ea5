import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import { type Kernel, MemoryStore, type Space } from "systole"
import { TestReactor } from "systole/testing"
import { Imports } from "../../src/archive/Imports.ts"
import { hash } from "../frame/Frames.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun, enzyme, replays, replaysFromMany, steps, through, turns } from "../kernel/TestSpace.ts"
import { bring, frameOf, type Node, node, waiting } from "./Nodes.ts"

const HOUR = 3_600_000

const modules = [
  enzyme("send", (tx, { payload }) => void tx.signal({ signal: "/signals/take", space: "b", payload })),
  enzyme("own", (tx, { payload }) => void tx.signal({ signal: "/signals/take", space: "a", payload })),
  enzyme("later", (tx, { payload }) => void tx.signal({ signal: "/signals/take", space: "a", payload, at: { ms: 500 } })),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload)),
  enzyme("pay", async (tx, { payload }) => void await tx.io.request({ channel: "bank", opcode: "pay", payload }), { durable: true }),
  enzyme("sleep", async (tx, { payload }) => void await tx.io.request({ channel: "late", opcode: "pay", payload }), { durable: true })
]

const channels = () =>
  new TestReactor({
    bank: { opcodes: { pay: {} } },
    late: { opcodes: { pay: { repeatable: true } }, notBefore: ({ issued }) => issued + 60_000 }
  })

/** The node of a kernel. */
const nodeOf = (kernel: Kernel["Service"]): Node => ({
  kernel, hash, fork: Effect.runFork, imports: new Imports({ kernel, hash }, { fork: () => Effect.runFork(Effect.void), limit: () => 16 })
})

const send = (space: Space, payload: number) => Effect.andThen(space.signal({ signal: "/signals/send", payload }), space.step)

/** Runs the turns of the host and some beats of a receiver. */
const receive = (b: Space) => Effect.andThen(turns(), steps(b, 2))

/** A copy of the space `a` of a node, after its first beat. */
const copyOf = (here: Node, name = "copy") => Effect.gen(function*() {
  yield* Effect.flatMap(here.kernel.space("a"), (space) => steps(space, 8))
  const { space } = yield* bring(here, name, { frames: [yield* frameOf(here, "a")] })
  yield* space.step
  return space
})

describe("a detached space", () => {
  it.effect("sends its own signals after restarts before and after its release, and none of the original", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make(modules)
    const settings = { boot: true, create: "on-demand" } as const
    const first = yield* machine.boot(settings)
    yield* machine.hold("b")
    const a = yield* first.space("a")
    yield* steps(a, 8)
    yield* send(a, 0)
    yield* copyOf(nodeOf(first))
    yield* machine.release("b")
    yield* receive(yield* first.space("b"))

    const second = yield* machine.boot(settings)
    const b = yield* second.space("b")
    const copy = yield* second.space("copy")
    yield* send(copy, 1)
    yield* receive(b)
    assert.deepStrictEqual(yield* b.get("/data/taken"), [0])
    yield* begun(copy, copy.control.releaseDetached())
    yield* receive(b)
    assert.deepStrictEqual(yield* b.get("/data/taken"), [0, 1])

    const third = yield* machine.boot(settings)
    yield* send(yield* third.space("copy"), 2)
    yield* receive(yield* third.space("b"))
    assert.deepStrictEqual(yield* Effect.flatMap(third.space("b"), (space) => space.get("/data/taken")), [0, 1, 2])
  }).pipe(Effect.scoped))

  it.effect("begins nothing before its release is durable, while an earlier beat becomes durable", () => Effect.gen(function*() {
    const latch = Latch.makeUnsafe(true)
    const reactor = channels()
    let go = (): void => {}
    const lane = { lane: "space" } as const
    const slow = enzyme("slow", () => new Promise<void>((resolve) => (go = resolve)), lane)
    const quick = enzyme("quick", (tx) => tx.set("/data/quick", true), lane)
    const here = yield* node({
      modules: [...modules, slow, quick], reactor: reactor.layer, persistence: waiting(MemoryStore.layer, "copy", latch)
    })
    const copy = yield* copyOf(here)
    yield* copy.signal({ signal: "/signals/pay", payload: "one" })
    yield* copy.step
    yield* copy.signal({ signal: "/signals/quick" })
    yield* copy.signal({ signal: "/signals/slow" })
    yield* Latch.close(latch)
    for (const ask of [copy.step, copy.step]) yield* Effect.forkChild(ask, { startImmediately: true })
    yield* turns()
    for (const ask of [copy.control.releaseDetached(), copy.step]) yield* Effect.forkChild(ask, { startImmediately: true })
    go()
    yield* turns()
    yield* Latch.release(latch)
    yield* turns()
    assert.lengthOf(reactor.submitted, 0, "begun before the release is durable")
    yield* Latch.open(latch)
    yield* turns()
    assert.lengthOf(reactor.submitted, 1)
  }).pipe(Effect.scoped))

  it.effect("with requests rests and closes, and nothing wakes it until its release", () => Effect.gen(function*() {
    const reactor = channels()
    const machine = yield* RestartableKernel.make(modules, reactor.layer)
    const kernel = yield* machine.boot({ boot: true, create: "on-demand", pace: "demand", open: 1 })
    const a = yield* kernel.space("a")
    yield* a.idle
    const { space: copy } = yield* bring(nodeOf(kernel), "copy", { frames: [yield* frameOf(nodeOf(kernel), "a")] })
    for (const signal of ["/signals/pay", "/signals/sleep"]) yield* copy.signal({ signal, payload: "one" })
    yield* turns()
    yield* copy.idle
    yield* Effect.andThen(a.idle, turns())
    assert.isFalse(machine.open().has("copy"))
    assert.isUndefined(kernel.due("copy"))
    yield* TestClock.adjust(HOUR)
    yield* turns()
    assert.isFalse(machine.open().has("copy"))
    assert.lengthOf(reactor.submitted, 0)
    yield* copy.control.releaseDetached()
    yield* turns()
    assert.deepStrictEqual(reactor.submitted.map(({ attempt }) => attempt), [1, 1])
  }).pipe(Effect.scoped))

  it.effect("with requests pauses and shuts down like each other space, and begins them once it is released", () =>
    Effect.gen(function*() {
      const reactor = channels()
      const here = yield* node({ modules, reactor: reactor.layer })
      const copy = yield* copyOf(here)
      for (const signal of ["/signals/pay", "/signals/sleep"]) yield* copy.signal({ signal, payload: "one" })
      yield* copy.step
      yield* through(copy, copy.control.pause())
      assert.strictEqual((yield* copy.control.state).state, "paused")
      yield* through(copy, copy.control.resume())
      yield* through(copy, copy.control.shutdown())
      assert.strictEqual((yield* copy.control.state).state, "halted")
      yield* through(copy, copy.control.restart())
      assert.strictEqual((yield* copy.control.state).state, "running")
      yield* steps(copy, 3)
      yield* turns()
      assert.lengthOf(reactor.submitted, 0)
      yield* TestClock.adjust(HOUR)
      yield* begun(copy, copy.control.releaseDetached())
      yield* turns()
      assert.deepStrictEqual(reactor.submitted.map(({ attempt }) => attempt), [1, 1])
      yield* replays(copy)
    }).pipe(Effect.scoped))

  it.effect("replays the beats of its original under the name of that, also as the copy of a copy", () => Effect.gen(function*() {
    const here = yield* node({ modules, reactor: channels().layer })
    const a = yield* here.kernel.space("a")
    yield* steps(a, 8)
    yield* a.signal({ signal: "/signals/pay", payload: "one" })
    yield* a.signal({ signal: "/signals/own", payload: 1 })
    yield* a.signal({ signal: "/signals/later", payload: 2 })
    yield* steps(a, 2)
    const { space: copy } = yield* bring(here, "copy", { frames: [yield* frameOf(here, "a")] })
    yield* copy.signal({ signal: "/signals/pay", payload: "two" })
    yield* copy.signal({ signal: "/signals/own", payload: 3 })
    yield* steps(copy, 3)
    const { space: again } = yield* bring(here, "again", { frames: [yield* frameOf(here, "copy")] })
    yield* steps(again, 2)
    yield* begun(again, again.control.releaseDetached())
    yield* TestClock.adjust(1000)
    yield* steps(again, 2)
    assert.deepStrictEqual(yield* again.get("/data/taken"), [1, 2])
    yield* replays(copy)
    yield* replaysFromMany(again)
  }).pipe(Effect.scoped))
})
