import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Transaction } from "systole"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const stateOf = (space: Space) => Effect.map(RendezvousSpace.entry(space, "job"), (entry) => (entry as { readonly state: string }).state)

/** Requests that take ten beats, which is one second, with the states before and after. */
const waits: Readonly<Record<string, {
  readonly asked: (tx: Transaction) => unknown
  readonly first?: (tx: Transaction) => unknown
  readonly comes: string
  readonly before: string
}>> = {
  due_off: { asked: (tx) => tx.rv.spawn({ key: "job", due_off: 10 }), before: "pending", comes: "ready" },
  deadl_off: { asked: (tx) => tx.rv.spawn({ key: "job", deadl_off: 10 }), before: "ready", comes: "timeout" },
  "due_off as a time": { asked: (tx) => tx.rv.spawn({ key: "job", due_off: "1s" }), before: "pending", comes: "ready" },
  "deadl_off as a time": { asked: (tx) => tx.rv.spawn({ key: "job", deadl_off: "1s" }), before: "ready", comes: "timeout" },
  "grace_delta as a time, rounded up to beats": {
    asked: (tx) => tx.rv.spawn({ key: "job", max_grace: 1, grace_delta: "850ms" }),
    before: "late",
    comes: "timeout"
  },
  "epoch_k as a time": {
    first: (tx) => tx.rv.spawn({ key: "job", prof: "rv-epoch", epoch_k: "1s" }),
    asked: (tx) => tx.rv.report("job"),
    before: "pending",
    comes: "ready"
  },
  "deadl_off after an absolute beat": {
    asked: (tx) => tx.rv.spawn({ key: "job", due: tx.beat, deadl_off: 10 }),
    before: "ready",
    comes: "timeout"
  },
  grace: { asked: (tx) => tx.rv.spawn({ key: "job", max_grace: 1, grace_delta: 9 }), before: "late", comes: "timeout" },
  "grace after an absolute beat": {
    asked: (tx) => tx.rv.spawn({ key: "job", due: tx.beat, max_grace: 1, grace_delta: 10 }),
    before: "late",
    comes: "timeout"
  },
  kill_wait: {
    asked: (tx) => tx.rv.spawn({ key: "job", due_off: 99, kill_mode: "stop", kill_wait: 10 }),
    before: "pending",
    comes: "killed"
  },
  "a kill's wait": {
    first: (tx) => tx.rv.spawn({ key: "job", due_off: 99 }),
    asked: (tx) => tx.rv.kill("job", { wait: 10 }),
    before: "pending",
    comes: "killed"
  },
  "the delay of a resched": {
    first: (tx) => tx.rv.spawn({ key: "job", due: tx.beat + 2 }),
    asked: (tx) => tx.rv.resched("job", 10),
    before: "pending",
    comes: "ready"
  },
  epoch_k: {
    first: (tx) => tx.rv.spawn({ key: "job", prof: "rv-epoch", epoch_k: 10 }),
    asked: (tx) => tx.rv.report("job"),
    before: "pending",
    comes: "ready"
  }
}

describe("A rendezvous of a space that beats faster than its tempo", () => {
  for (const [name, { asked, before, comes, first }] of Object.entries(waits)) {
    it.effect(`waits by ${name} for the number of beats and for their time at the tempo`, () =>
      Effect.gen(function*() {
        const space = yield* RendezvousSpace.space({ asked, first: first ?? (() => 0) })
        yield* TestClock.adjust("1 second")
        yield* RendezvousSpace.ask(space, "first")
        yield* RendezvousSpace.ask(space, "asked")
        for (let tenth = 1; tenth < 10; tenth++) {
          yield* TestClock.adjust("100 millis")
          yield* steps(space, 4)
        }
        assert.strictEqual(yield* stateOf(space), before)
        yield* TestClock.adjust("99 millis")
        yield* steps(space, 4)
        assert.strictEqual(yield* stateOf(space), before)
        yield* TestClock.adjust("2 millis")
        yield* steps(space, 4)
        // A grace ends one beat after its due time.
        yield* TestClock.adjust("100 millis")
        yield* steps(space, 1)
        assert.strictEqual(yield* stateOf(space), comes)
        yield* RendezvousSpace.isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({ tempo: 100 })), RendezvousSpace.granted))
  }

  it.effect("does not end early because of other signals, and ends on time", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const settings = { pace: "demand", tempo: 100 } as const
      const enzymes = RendezvousSpace.enzymes({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 600, deadl_off: 0 }) }, [
        enzyme("busy", () => undefined)
      ])
      let space = yield* machine.boot(enzymes, settings)
      yield* space.handled({ signal: "/CEP:sig_sys/init" })
      yield* space.handled({ signal: "/signals/do", payload: "spawn" })
      for (let n = 0; n < 700; n++) yield* space.handled({ signal: "/signals/busy", payload: n })
      assert.isAbove(yield* space.head, 650)
      assert.strictEqual(yield* stateOf(space), "pending")
      space = yield* machine.boot(enzymes, settings)
      yield* space.handled({ signal: "/signals/busy", payload: "again" })
      assert.strictEqual(yield* stateOf(space), "pending")
      yield* TestClock.adjust("60 seconds")
      yield* space.idle
      assert.strictEqual(yield* stateOf(space), "timeout")
      assert.lengthOf(yield* RendezvousSpace.events(space, "job"), 1)
    }).pipe(RendezvousSpace.granted))

  it.effect("with a delayed due beat becomes ready at that beat, not before, when the space is idle", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes =
        RendezvousSpace.enzymes({ spawn: (tx) => tx.rv.spawn({ key: "job", due: 50 }), later: (tx) => tx.rv.resched("job", 5) })
      const space = yield* machine.boot(enzymes, { pace: "demand", tempo: 100 })
      yield* space.handled({ signal: "/CEP:sig_sys/init" })
      for (const payload of ["spawn", "later"]) yield* space.handled({ signal: "/signals/do", payload })
      const before = yield* space.head
      yield* TestClock.adjust((54 - before) * 100)
      yield* space.idle
      assert.deepStrictEqual([yield* stateOf(space), yield* space.head], ["pending", before])
      yield* TestClock.adjust("100 millis")
      yield* space.idle
      assert.deepStrictEqual([yield* stateOf(space), yield* space.head], ["ready", 55])
    }).pipe(RendezvousSpace.granted))

  it.effect("with an absolute due beat waits for the number of the beat only", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job", due: 5, deadline: 8 }) })
      yield* RendezvousSpace.ask(space, "spawn")
      yield* steps(space, 4)
      assert.strictEqual(yield* stateOf(space), "ready")
      yield* steps(space, 3)
      assert.strictEqual(yield* stateOf(space), "timeout")
    }).pipe(Effect.provide(TestKernel.layer({ tempo: 100 })), RendezvousSpace.granted))

  it.effect("with an absolute due beat does not become ready earlier by a delay", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({
        spawn: (tx) => tx.rv.spawn({ key: "job", due: 500, deadl_off: 20 }),
        later: (tx) => tx.rv.resched("job", 5)
      })
      const space = yield* machine.boot(enzymes, { pace: "demand", tempo: 100 })
      yield* space.handled({ signal: "/CEP:sig_sys/init" })
      for (const payload of ["spawn", "later"]) yield* space.handled({ signal: "/signals/do", payload })
      for (const [millis, state] of [[49_000, "pending"], [1500, "ready"], [2000, "timeout"]] as const) {
        yield* TestClock.adjust(millis)
        yield* space.idle
        assert.strictEqual(yield* stateOf(space), state)
      }
    }).pipe(RendezvousSpace.granted))

  it.effect("replays to the same result at another tempo", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const enzymes = RendezvousSpace.enzymes({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 3, max_grace: 1, grace_delta: 2 }) })
      const space = yield* RendezvousSpace.begin(yield* machine.boot(enzymes, { tempo: 100 }))
      yield* RendezvousSpace.ask(space, "spawn")
      for (let n = 0; n < 8; n++) {
        yield* TestClock.adjust("100 millis")
        yield* space.step
      }
      assert.strictEqual(yield* stateOf(space), "timeout")
      yield* RendezvousSpace.isReplayedEqual(yield* machine.boot(enzymes, { tempo: 7 }))
    }).pipe(RendezvousSpace.granted))
})
