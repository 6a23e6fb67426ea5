import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { action, fileOf, withAgent } from "./TestAgent.ts"

const target = "http://example.com/health"
const health = action("health", { type: "http_check", target, schedule: "every:5m", status: "pending" }, "HIGH")
const hello = action("hello", { type: "shell", command: "echo hello", status: "pending" })

describe("Wake", () => {
  it.effect("runs an action that is due, and writes its status from the ledger", () =>
    withAgent(fileOf(hello), ({ fields, text, wake }) =>
      Effect.gen(function*() {
        const before = text()
        const report = yield* wake()
        assert.deepStrictEqual(report.ran.map(({ action, record }) => [action.id, record.status]), [["hello", "completed"]])
        const { completed_at, duration, result, status } = fields("hello")
        assert.deepStrictEqual({ completed_at, duration, result, status }, {
          status: "completed", completed_at: "2024-01-15T10:30:00Z", duration: "0.0s", result: "exit 0"
        })
        assert.include(text(), "- [x] hello: hello (10:30:00)")
        assert.include(before, "Mine.")
        assert.include(text(), "\nMine.\n")
      })))

  it.effect("runs a recurring action again after its interval only", () =>
    withAgent(fileOf(health), ({ fields, wake }) =>
      Effect.gen(function*() {
        yield* wake()
        assert.strictEqual(fields("health")["result"], "OK (200)")
        assert.strictEqual(fields("health")["status"], "pending")
        assert.strictEqual((yield* wake()).ran.length, 0)
      })))
})
