import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Enzyme, Flow, type Transaction } from "systole"
import { controlled } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const jobs = Array.from({ length: 200 }, (_, i) => `job${i}`)

/** Makes an effect that reopens the space, and returns it with the number of documents read. */
const reading = Effect.fnUntraced(function*(enzymes: ReadonlyArray<Enzyme.Enzyme>) {
  const machine = yield* TestMachine.make
  return Effect.gen(function*() {
    const before = machine.reads()
    const space = yield* machine.boot(enzymes)
    return [machine.reads() - before, space] as const
  })
})

describe("The recovery of a space", () => {
  it.effect("reads the pending rendezvous, and no finished one", () =>
    Effect.gen(function*() {
      const spawn = (keys: ReadonlyArray<string>) => (tx: Transaction) => {
        for (const key of keys) tx.rv.spawn({ key, due_off: 5 })
      }
      const open = yield* reading(RendezvousSpace.enzymes({
        spawn: spawn(jobs),
        report: (tx) => jobs.slice(2).forEach((key) => tx.rv.report(key, {})),
        again: spawn(["job7"])
      }))
      yield* RendezvousSpace.begin((yield* open)[1])
      const [none, first] = yield* open
      yield* RendezvousSpace.ask(first, "spawn")
      const [all, second] = yield* open
      assert.strictEqual(all, none + 200)
      yield* RendezvousSpace.ask(second, "report")
      const [two, third] = yield* open
      assert.strictEqual(two, none + 2)
      yield* RendezvousSpace.ask(third, "again")
      const [three, last] = yield* open
      assert.strictEqual(three, none + 3)
      yield* RendezvousSpace.steps(last, 10)
      assert.deepInclude(yield* RendezvousSpace.entry(last, "job7"), { state: "ready" })
      yield* RendezvousSpace.isReplayedEqual(last)
    }).pipe(Effect.scoped, RendezvousSpace.granted))

  it.effect("reads the instances of flows with a timer, and no other", () =>
    Effect.gen(function*() {
      const calm = Flow.make({ name: "calm", steps: { ask: { transform: () => ({}) }, answer: { wait: "ask" } } })
      const quick = Flow.make({ name: "quick", steps: { only: { guard: () => true } } })
      const open = yield* reading(RendezvousSpace.enzymes(
        { start: (tx) => jobs.forEach((inst, i) => tx.flow.start(i < 3 ? "calm" : "quick", null, { inst })) },
        [calm, quick]
      ))
      yield* RendezvousSpace.begin((yield* open)[1])
      const [none, first] = yield* open
      yield* RendezvousSpace.ask(first, "start")
      yield* RendezvousSpace.steps(first, 2)
      assert.strictEqual(yield* first.get("/sys/index/flow"), 3)
      // Each waiting instance has a rendezvous.
      const [three, second] = yield* open
      assert.strictEqual(three, none + 3)
      yield* controlled(second, second.flows.budget("job1", { beats: 5 }))
      yield* RendezvousSpace.steps(second, 1)
      assert.strictEqual((yield* open)[0], none + 4)
    }).pipe(Effect.scoped, RendezvousSpace.granted))
})
