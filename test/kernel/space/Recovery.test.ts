import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Retry, type Space } from "systole"
import * as Trials from "../../support/Trials.ts"
import { ended, enzyme, steps } from "../TestSpace.ts"
import * as RandomHistory from "../RandomHistory.ts"
import * as TestMachine from "../TestMachine.ts"

const log = () => {
  const ran: Array<string> = []
  const run = (name: string, order: "strict" | "loose" = "strict") =>
    enzyme(name, (tx, { attempt, payload }) => {
      ran.push(`${name} ${payload}@${tx.beat}`)
      return (payload as number) < 0 && attempt < 3 ? new Retry({ reason: "wait" }) : undefined
    }, { query: "/signals/s", order })
  return { ran, run }
}

describe("a space that is opened again", () => {
  it.effect("continues with the accepted signals, in order", () =>
    Effect.gen(function*() {
      const { ran, run } = log()
      const enzymes = [run("e")]
      const machine = yield* TestMachine.make
      const before = yield* machine.boot(enzymes)
      for (const payload of [1, 2, 3]) yield* before.signal({ signal: "/signals/s", payload })
      yield* before.step
      const after = yield* machine.boot(enzymes)
      yield* after.signal({ signal: "/signals/s", payload: 4 })
      yield* steps(after, 4)
      assert.deepStrictEqual(ran, ["e 1@0", "e 2@1", "e 3@2", "e 4@3"])
    }))

  it.effect("keeps a lane held by a retry, and releases a loose one", () =>
    Effect.gen(function*() {
      for (const [order, expected] of [["strict", "2@4"], ["loose", "2@2"]] as const) {
        const { ran, run } = log()
        const enzymes = [run("a", "loose"), run("b", order)]
        const machine = yield* TestMachine.make
        const before = yield* machine.boot(enzymes)
        for (const payload of [-1, 2]) yield* before.signal({ signal: "/signals/s", payload })
        yield* before.step
        const after = yield* machine.boot(enzymes)
        yield* steps(after, 5)
        assert.include(ran, `b ${expected}`, order)
        assert.deepStrictEqual(ran.filter((line) => line.startsWith("b -1")), ["b -1@0", "b -1@1", "b -1@3"])
      }
    }))

  it.effect("keeps the queue of a contended document", () =>
    Effect.gen(function*() {
      const enzymes = [enzyme("set", (tx, { params }) => {
        tx.set("/data/x", params["n"])
        tx.append("/data/log", params["n"])
      }, { query: "/signals/:n" })]
      const machine = yield* TestMachine.make
      let space = yield* machine.boot(enzymes)
      for (const n of [1, 2, 3, 4]) yield* space.signal({ signal: `/signals/${n}` })
      for (let i = 0; i < 4; i++) {
        yield* space.step
        space = yield* machine.boot(enzymes)
      }
      assert.deepStrictEqual(yield* space.get("/data/log"), ["1", "2", "3", "4"])
      assert.deepStrictEqual(yield* ended(space, "x.0.3"), ["set ok @3 #1"])
    }))

  it.effect("wakes for delayed signals at their time, after any downtime", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const enzymes = [enzyme("late", (tx, { payload }) => void ran.push(`${payload}@${tx.beat} ${tx.now}`))]
      const machine = yield* TestMachine.make
      const before = yield* machine.boot(enzymes, { tempo: 100 })
      yield* before.signal({ signal: "/signals/late", payload: "soon", at: { ms: 300 } })
      yield* before.signal({ signal: "/signals/late", payload: "later", at: { beats: 20 } })
      yield* TestClock.adjust("1 second")
      const after = yield* machine.boot(enzymes, { tempo: 100, pace: "demand" })
      yield* after.idle
      assert.deepStrictEqual(ran, ["soon@0 1000"])
      yield* TestClock.adjust("1 second")
      yield* after.idle
      assert.deepStrictEqual(ran, ["soon@0 1000", "later@19 2000"])
    }))

  it.effect("has the receipts, the cells and the head that it had", () =>
    Effect.gen(function*() {
      const enzymes = [enzyme("s", (tx, { payload }) => {
        tx.set("/data/x", new Map([["k", tx.beat]]))
        return payload
      })]
      const machine = yield* TestMachine.make
      const look = (space: Space) =>
        Effect.all([space.receipt("x.0.0"), space.get("/data/x"), space.head, space.journal(0), space.get("/rt/beat/0/agenda")])
      const before = yield* machine.boot(enzymes)
      yield* before.signal({ signal: "/signals/s", payload: { a: new Date(7) } })
      yield* before.step
      const seen = yield* look(before)
      assert.deepStrictEqual(yield* look(yield* machine.boot(enzymes)), seen)
      assert.strictEqual(seen[2], 0)
    }))
})

describe("under any history of a space", () => {
  for (const pace of ["manual", "demand"] as const) {
    for (const part of [1, 2, 3]) {
      const seeds = Trials.seeds(15, { from: 100 * part, least: 2 })
      it.effect(`each accepted signal is handled exactly once, in its lane's order (${pace}, part ${part})`, () =>
        Effect.forEach(seeds, (seed) => {
          const named = (cause: unknown) => Effect.die(new Error(`life ${seed}`, { cause }))
          return RandomHistory.check(seed, 60, pace).pipe(Effect.catchCause(named))
        }, { discard: true }))
    }
  }
})
