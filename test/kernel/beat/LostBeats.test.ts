import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Space, why } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import * as TestMachine from "../TestMachine.ts"
import { enzyme, replays, steps } from "../TestSpace.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))

const facts = (space: Space) =>
  Effect.map(TestKernel.diagnostics(space), (all) => all.map(({ issued_beat, note, topic }) => [issued_beat, topic, note]))

/** A space with beat 0, and flushes that fail from then on. */
const failing = Effect.gen(function*() {
  const machine = yield* TestMachine.make
  const space = yield* machine.boot([count])
  yield* space.signal({ signal: "/signals/count" })
  yield* space.step
  machine.breakDisk(true)
  return { machine, space }
})

describe("Lost beats", () => {
  it.effect("are noted by the first beat after the recovery, once, and by a replay", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* failing
      yield* Effect.flip(space.step)
      machine.breakDisk(false)
      const again = yield* machine.open
      assert.deepStrictEqual(yield* facts(again), [])
      assert.strictEqual(yield* steps(again, 2), 3)
      assert.deepStrictEqual(yield* facts(again), [[2, "persist.flush.fail", "beat 1 was lost with its flush"]])
      assert.include((yield* again.journal(2))?.text, '"control":[["lost","persist.flush.fail","store/unavailable",1,1]]')
      yield* replays(again)
      const [fact] = yield* again.list("/data/mailbox/diag/msgs")
      assert.strictEqual((yield* again.examine((history) => why(history, `/data/mailbox/diag/msgs/${fact}`)))?.beat, 2)
    }))

  it.effect("are noted once, also where the next beat is of the same group", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const chain = enzyme("chain", (tx, { payload }) => payload === 0 ? undefined : tx.signal({ signal: "/signals/chain", payload: 0 }))
      const space = yield* machine.boot([chain], { pace: "demand" })
      machine.breakDisk(true)
      yield* Effect.flip(space.signal({ signal: "/signals/chain", payload: 0 }))
      machine.breakDisk(false)
      const again = yield* machine.open
      yield* again.handled({ signal: "/signals/chain", payload: 1 })
      yield* again.idle
      assert.lengthOf(yield* facts(again), 1)
      yield* replays(again)
    }))

  it.effect("stay lost until a beat that notes them is durable", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* failing
      yield* Effect.flip(space.step)
      const second = yield* machine.open
      yield* Effect.flip(second.step)
      machine.breakDisk(false)
      const third = yield* machine.open
      assert.strictEqual(yield* third.step, 3)
      assert.deepStrictEqual(yield* facts(third), [[3, "persist.flush.fail", "beats 1 to 2 were lost with their flush"]])
      const states = yield* Effect.forEach([0, 1, 2, 3], (beat) => third.get(`/rt/beat/${beat}/state#/state`))
      assert.deepStrictEqual(states, ["ist:store", "ist:fail", "ist:fail", "ist:store"])
      assert.strictEqual(yield* third.step, 4)
    }))

  it.effect("are noted by the first beat of a group alone", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const chain = enzyme("chain", (tx, { payload }) => {
        if (Number(payload) > 0) tx.signal({ signal: "/signals/chain", payload: Number(payload) - 1 })
      })
      const space = yield* machine.boot([chain], { pace: "demand" })
      yield* space.signal({ signal: "/signals/chain", payload: 0 })
      yield* space.idle
      const newest = yield* space.head
      machine.breakDisk(true)
      yield* Effect.flip(space.signal({ signal: "/signals/chain", payload: 0 }))
      machine.breakDisk(false)
      const again = yield* machine.open
      const before = machine.flushes()
      yield* again.signal({ signal: "/signals/chain", payload: 2 })
      yield* again.idle
      assert.isBelow(machine.flushes() - before, (yield* again.head) - newest)
      assert.lengthOf(yield* facts(again), 1)
      yield* replays(again)
    }))

  it.effect("are none if the failed flush carried signals only", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* failing
      yield* Effect.flip(space.signal({ signal: "/signals/count" }))
      machine.breakDisk(false)
      const again = yield* machine.open
      assert.strictEqual(yield* again.step, 1)
      assert.deepStrictEqual(yield* facts(again), [[1, "persist.flush.fail", "a flush failed, and no beat was lost"]])
      yield* replays(again)
    }))

  it.effect("are unknown after the end of the process, and their numbers are used again", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* failing
      yield* Effect.flip(space.step)
      machine.breakDisk(false)
      const next = yield* machine.boot([count])
      assert.isUndefined(yield* next.get("/rt/beat/1/state"))
      assert.strictEqual(yield* next.step, 1)
      assert.deepStrictEqual(yield* facts(next), [])
    }))
})
