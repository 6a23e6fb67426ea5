import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Transaction } from "systole"
import * as Machine from "../kernel/Machine.ts"
import * as Ledger from "./Ledger.ts"

describe("a space with rendezvous that is opened", () => {
  it.effect("reads those that are not over, and none that is", () =>
    Effect.gen(function*() {
      const machine = yield* Machine.make
      const spawn = (keys: ReadonlyArray<string>) => (tx: Transaction) => {
        for (const key of keys) tx.rv.spawn({ key, due_off: 5 })
      }
      const jobs = Array.from({ length: 200 }, (_, i) => `job${i}`)
      const enzymes = Ledger.enzymes({ spawn: spawn(jobs), report: (tx) => jobs.slice(2).forEach((key) => tx.rv.report(key, {})), again: spawn(["job7"]) })
      const reading = Effect.gen(function*() {
        const before = machine.reads()
        const space = yield* machine.boot(enzymes)
        return [machine.reads() - before, space] as const
      })
      const [, space] = yield* reading
      yield* Ledger.begin(space)
      const [none] = yield* reading
      yield* Ledger.ask(yield* machine.open, "spawn")
      const [all, open] = yield* reading
      assert.strictEqual(all, none + 200)
      yield* Ledger.ask(open, "report")
      const [two, left] = yield* reading
      assert.strictEqual(two, none + 2)
      yield* Ledger.ask(left, "again")
      const [three, last] = yield* reading
      assert.strictEqual(three, none + 3)
      yield* Ledger.steps(last, 10)
      assert.deepInclude(yield* Ledger.entry(last, "job7"), { state: "ready" })
      yield* Ledger.isReplayedEqual(last)
    }).pipe(Effect.scoped, Ledger.granted))
})
