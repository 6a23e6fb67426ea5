import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, type IoResult, Reactor, type Transaction } from "systole"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, turns } from "../kernel/TestSpace.ts"

const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  return tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/ask/done", ...payload as object })
}, { query: "/signals/ask", match: "prefix" })

/** A channel whose jobs hang. */
const hung: Channel.Channel = {
  id: "bank", provider: "hung", hosts: ["node", "deno", "bun"], opcodes: { charge: {} }, execute: () => new Promise(() => {})
}

describe("A job that hangs, of a synchronous reactor,", () => {
  it.effect.each([{ timeoutMs: 1000 }, { budget: 10 }])("holds its space until its deadline, such as $0, and no longer", (payload) =>
    Effect.gen(function*() {
      const machine = yield* RestartableKernel.make([ask], Reactor.sync([hung]))
      const space = yield* Effect.flatMap(machine.boot({ pace: "demand", tempo: 100 }), (kernel) => kernel.space("test", { create: true }))
      yield* space.signal({ signal: "/signals/ask", payload })
      yield* turns()
      const head = yield* space.head
      yield* space.signal({ signal: "/signals/ask/done", payload: "later" })
      yield* TestClock.adjust(999)
      yield* turns()
      assert.strictEqual(yield* space.head, head)
      yield* TestClock.adjust(1)
      yield* turns()
      const results = (yield* space.get("/data/results")) as unknown as ReadonlyArray<IoResult | string>
      assert.sameMembers(results.map((result) => typeof result === "string" ? result : result.code), ["later", "io/timeout"])
      yield* replays(space)
    }).pipe(Effect.scoped))
})
