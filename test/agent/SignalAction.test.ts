import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Retry } from "systole"
import { enzyme, replays } from "../kernel/TestSpace.ts"
import { action, fileOf, withAgent } from "./TestAgent.ts"
import { withCellAgent } from "./TestCellAgent.ts"

const send = (id: string, fields: object = {}) =>
  action(id, { type: "signal", signal: `/signals/${id}`, payload: "1", timeout: "5s", status: "pending", ...fields })

/** The enzymes that take the signals of actions: one ends well, one for good, one after a retry, and one after ten seconds. */
const takers = () => [
  enzyme("good", () => {}),
  enzyme("bad", () => {
    throw new RangeError("never")
  }),
  enzyme("again", (_, { attempt }) => {
    if (attempt === 1) throw new Retry({ reason: "not yet" })
  }),
  enzyme("slow", (tx) => tx.sleep(10_000), { durable: true })
]

describe("A signal action", () => {
  it.effect("ends with its event: handled, given up, taken by nobody, or not over in time", () => {
    const file = fileOf(send("good"), send("bad"), send("again"), send("nobody"), send("slow"))
    return withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      for (const id of ["good", "again"]) {
        assert.strictEqual(fields(id)["status"], "completed")
        assert.match(fields(id)["result"] ?? "", /^handled \d+\.\d+\.\d+$/)
      }
      assert.match(fields("bad")["error"] ?? "", /^its event \S+ was given up by bad \(run\/failed\); systole dead tells why$/)
      assert.strictEqual(fields("nobody")["error"], "no enzyme takes /signals/nobody")
      assert.match(fields("slow")["error"] ?? "", /^timed out: its event \S+ had not ended within 5000 ms\. It goes on; wait: false/)
      assert.deepStrictEqual(["bad", "nobody", "slow"].map((id) => fields(id)["status"]), ["failed", "failed", "failed"])
      yield* replays(space)
    }), { enzymes: takers() })
  })

  it.effect("with wait: false is completed once its event is sent", () => {
    const file = fileOf(...["bad", "nobody", "slow"].map((id) => send(id, { wait: "false" })), send("odd", { wait: "5s" }))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      const { issues } = yield* wake()
      for (const id of ["bad", "nobody", "slow"]) {
        assert.strictEqual(fields(id)["status"], "completed")
        assert.match(fields(id)["result"] ?? "", /^sent \d+\.\d+\.\d+$/)
      }
      assert.deepStrictEqual(issues.map(({ message, suggestion }) => [message, suggestion]), [
        ["The wait \"5s\" of the type signal is unknown", "write one of true, false"]
      ])
    }), { enzymes: takers() })
  })

  it.effect("whose event was given up is tried again with another event", () => {
    const seen: Array<string> = []
    const once = enzyme("once", (tx, { id }) => {
      seen.push(id)
      if (tx.get("/data/tried") !== undefined) return
      tx.signal({ signal: "/signals/tried", payload: 1 })
      throw new RangeError("not yet")
    })
    return withAgent(fileOf(send("once", { retry: 2, retry_delay: "immediate" })), ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.strictEqual(fields("once")["retry_count"], "1/2")
      yield* space.set("/data/tried", true).pipe((set) => Effect.andThen(Effect.forkChild(set), space.step))
      yield* wake()
      assert.strictEqual(fields("once")["status"], "completed")
      assert.deepStrictEqual([seen.length, new Set(seen).size], [2, 2])
    }), { enzymes: [once] })
  })

  it.effect("ends with its event in a file in a cell, too", () =>
    withCellAgent(({ content, pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(send("good"), send("bad"), send("nobody"), send("slow")))
      yield* pass("1 minute")
      const text = new TextDecoder().decode((yield* space.get(yield* content)) as Uint8Array)
      assert.match(text, /\*\*result\*\*: handled \d+\.\d+\.\d+/)
      assert.include(text, "(run/failed); systole dead tells why")
      assert.include(text, "no enzyme takes /signals/nobody")
      assert.include(text, "had not ended within 5000 ms")
      yield* replays(space)
    }), { enzymes: takers() }))
})
