import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ActionType } from "systole/plugins/agent"
import { action, fileOf, withAgent } from "./TestAgent.ts"

/** Sleeps for the time of its field, and asks the world after it. */
const late = ActionType.make({
  type: "late",
  run: async ({ raw, request, tx }) => {
    await tx.sleep(Number(raw("sleep")))
    await request("http", "fetch", { url: "http://x.test/" })
    return { result: "asked" }
  }
})

describe("An action whose timeout is over", () => {
  it.effect("asks no channel any more", () => {
    const asked: Array<string> = []
    const scripts = { http: (opcode: string) => asked.push(opcode) }
    const make = (id: string, sleep: string) => action(id, { type: "late", sleep, timeout: "5s", status: "pending" })
    return withAgent(fileOf(make("early", "4000"), make("late", "5000")), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(asked, ["fetch"])
      assert.strictEqual(fields("early")["status"], "completed")
      assert.include(fields("late"), { status: "failed", error: "timed out: its timeout was over before it asked http fetch" })
    }), { scripts, enzymes: [late] })
  })
})
