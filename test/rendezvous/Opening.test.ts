import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Enzyme, Flow, type Transaction } from "systole"
import { controlled } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as Ledger from "./Ledger.ts"

const jobs = Array.from({ length: 200 }, (_, i) => `job${i}`)

/** A machine that opens its space anew; answers it, and how many documents were read for that. */
const reading = Effect.fnUntraced(function*(enzymes: ReadonlyArray<Enzyme.Enzyme>) {
  const machine = yield* TestMachine.make
  return Effect.gen(function*() {
    const before = machine.reads()
    const space = yield* machine.boot(enzymes)
    return [machine.reads() - before, space] as const
  })
})

describe("a space that is opened", () => {
  it.effect("reads the rendezvous that are not over, and none that is", () =>
    Effect.gen(function*() {
      const spawn = (keys: ReadonlyArray<string>) => (tx: Transaction) => {
        for (const key of keys) tx.rv.spawn({ key, due_off: 5 })
      }
      const open = yield* reading(Ledger.enzymes({ spawn: spawn(jobs), report: (tx) => jobs.slice(2).forEach((key) => tx.rv.report(key, {})), again: spawn(["job7"]) }))
      yield* Ledger.begin((yield* open)[1])
      const [none, first] = yield* open
      yield* Ledger.ask(first, "spawn")
      const [all, second] = yield* open
      assert.strictEqual(all, none + 200)
      yield* Ledger.ask(second, "report")
      const [two, third] = yield* open
      assert.strictEqual(two, none + 2)
      yield* Ledger.ask(third, "again")
      const [three, last] = yield* open
      assert.strictEqual(three, none + 3)
      yield* Ledger.steps(last, 10)
      assert.deepInclude(yield* Ledger.entry(last, "job7"), { state: "ready" })
      yield* Ledger.isReplayedEqual(last)
    }).pipe(Effect.scoped, Ledger.granted))

  it.effect("reads the instances of flows that wait for a time, and no other", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })
      const quick = Flow.make({ name: "quick", steps: { only: { guard: () => true } } })
      const open = yield* reading(Ledger.enzymes({ start: (tx) => jobs.forEach((inst, i) => tx.flow.start(i < 3 ? "calm" : "quick", null, { inst })) }, [calm, quick]))
      yield* Ledger.begin((yield* open)[1])
      const [none, first] = yield* open
      yield* Ledger.ask(first, "start")
      yield* Ledger.steps(first, 2)
      assert.strictEqual(yield* first.get("/sys/index/flow"), 3)
      // Each of those that wait has a rendezvous.
      const [three, second] = yield* open
      assert.strictEqual(three, none + 3)
      yield* controlled(second, second.flow.budget("job1", { beats: 5 }))
      yield* Ledger.steps(second, 1)
      assert.strictEqual((yield* open)[0], none + 4)
    }).pipe(Effect.scoped, Ledger.granted))
})
