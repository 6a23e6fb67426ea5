import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { fileOf, withAgent } from "./TestAgent.ts"

/** The block of the section "Handle Failure", whose type and target stand in the section "Basic Structure". */
const failed = `### [HIGH] Check API health
- **id**: action-001
- **type**: http_check
- **target**: https://api.example.com/health
- **status**: failed
- **failed_at**: 2024-01-15T10:32:15Z
- **error**: Connection timeout after 30s
- **retry_count**: 2/3
- **next_retry**: 2024-01-15T10:37:15Z
`

/** The actions of the section "Schedule Evaluation". */
const evaluated = [["a", "every:5m", "10:30:00"], ["b", "every:5m", "10:25:00"], ["c", "cron:*/10 * * * *", "10:20:00"]].map(
  ([id, schedule, time]) => `### [MEDIUM] Action ${id}
- **id**: ${id}
- **type**: shell
- **command**: echo ${id}
- **schedule**: ${schedule}
- **last_run**: 2024-01-15T${time}Z
- **status**: pending
`)

const at = (time: string) => TestClock.setTime(Date.parse(`2024-01-15T${time}Z`))

const ids = ({ ran }: { readonly ran: ReadonlyArray<{ readonly action: { readonly id: string } }> }) => ran.map(({ action }) => action.id)

describe("The blocks of the seed, in a folder without a ledger", () => {
  it.effect("a failed action with next_retry runs again at that time, and not before", () =>
    withAgent(fileOf(failed), ({ fields, wake }) => Effect.gen(function*() {
      yield* at("10:36:00")
      const { nextDue, ran } = yield* wake()
      assert.deepStrictEqual([ran.length, nextDue], [0, Date.UTC(2024, 0, 15, 10, 37, 15)])
      yield* at("10:37:15")
      assert.deepStrictEqual(ids(yield* wake()), ["action-001"])
      assert.deepInclude(fields("action-001"), { status: "completed", result: "OK (200)" })
      assert.notProperty(fields("action-001"), "next_retry")
      assert.deepStrictEqual(ids(yield* wake()), [])
    })))

  it.effect("the third attempt of three is the last one", () =>
    withAgent(fileOf(failed.replace("- **status**", "- **retry**: 3\n- **status**")), ({ fields, wake }) => Effect.gen(function*() {
      yield* at("10:37:15")
      yield* wake()
      assert.deepInclude(fields("action-001"), { status: "failed", retry_count: "3/3" })
      assert.notProperty(fields("action-001"), "next_retry")
    }), { scripts: { http: () => ({ status: 503, headers: {}, url: "", body: "" }) } }))

  it.effect("intervals and cron expressions count from last_run: at 10:32, A waits until 10:35, and B and C run", () =>
    withAgent(fileOf(...evaluated), ({ wake }) => Effect.gen(function*() {
      yield* at("10:32:00")
      const { plan, ran } = yield* wake()
      assert.deepStrictEqual(ids({ ran }), ["b", "c"])
      assert.deepInclude(plan.find(({ action }) => action.id === "a"), { kind: "wait", at: Date.UTC(2024, 0, 15, 10, 35) })
      yield* at("10:35:00")
      assert.deepStrictEqual(ids(yield* wake()), ["a"])
    })))
})
