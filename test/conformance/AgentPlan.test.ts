import { assert, describe, it } from "@effect/vitest"
import type { Action } from "../../plugins/agent/document/Action.ts"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Plan from "../../plugins/agent/wake/Plan.ts"
import * as Retry from "../../plugins/agent/schedule/Retry.ts"
import { control } from "../agent/Sample.ts"
import * as PlanFacts from "../agent/PlanFacts.ts"

const parsed = (...blocks: ReadonlyArray<string>): ReadonlyArray<Action> => {
  const { actions, issues } = ControlFile.parse(control(...blocks))
  assert.deepStrictEqual(issues, [])
  return actions
}

const block = (id: string, fields = "", priority = "MEDIUM"): string =>
  `### [${priority}] Action ${id}\n- **id**: ${id}\n- **type**: shell\n- **command**: true\n${fields}`

/** The ids of the decisions of one kind, in their order. */
const ids = (plan: Plan.Plan, kind: Plan.Decision["kind"]): ReadonlyArray<string> =>
  plan.flatMap((decision) => decision.kind === kind ? [decision.action.id] : [])

describe("O: plans", () => {
  it("O7 executes CRITICAL, HIGH, MEDIUM, LOW and BG, and equal ones in the order of the file", () => {
    const priorities = ["BG", "LOW", "MEDIUM", "CRITICAL", "HIGH", "low", "Critical", "background"]
    const actions = parsed(...priorities.map((priority, i) => block(`a${i}`, "", priority)))
    assert.deepStrictEqual(ids(Plan.make(actions, PlanFacts.of(actions)), "run"), ["a3", "a6", "a4", "a2", "a1", "a5", "a0", "a7"])
  })

  it("O8 executes only what is pending, due, met and true", () => {
    const actions = parsed(
      block("done", "- **status**: completed\n"),
      block("failed", "- **status**: failed\n"),
      block("later", "- **schedule**: at:2100-01-01T00:00:00Z\n"),
      block("open", "- **schedule**: at:2100-01-01T00:00:00Z\n"),
      block("met", "- **depends_on**: done\n"),
      block("unmet", "- **depends_on**: done, open\n"),
      block("lost", "- **depends_on**: failed\n"),
      block("true", "- **condition**: action_completed:done\n"),
      block("false", "- **condition**: NOT any_failed\n- **schedule**: every:5m\n")
    )
    const plan = Plan.make(actions, PlanFacts.of(actions))
    assert.deepStrictEqual(ids(plan, "run"), ["met", "true"])
    assert.deepStrictEqual(ids(plan, "skip"), ["lost", "false"])
    assert.deepStrictEqual(ids(plan, "block"), ["unmet"])
    assert.deepStrictEqual(ids(plan, "wait"), ["later", "open"])
    assert.deepStrictEqual(ids(plan, "rest"), ["done", "failed"])
    assert.strictEqual(Plan.nextDue(plan), Date.UTC(2100, 0, 1))
  })

  it("O8 lets a due dependency end first, whatever its place and priority", () => {
    const actions = parsed(block("second", "- **depends_on**: first\n", "CRITICAL"), block("first", "", "LOW"))
    const facts = PlanFacts.of(actions)
    assert.deepStrictEqual(ids(Plan.make(actions, facts), "run"), ["first"])
    assert.deepStrictEqual(ids(Plan.make(actions, facts), "block"), ["second"])
    const after = PlanFacts.ended(facts, "first", "completed")
    assert.deepStrictEqual(ids(Plan.make(actions, after), "run"), ["second"])
  })

  it("O8 lets a dependency that is due again end first, though its last run completed", () => {
    const recurring = "- **schedule**: every:5m\n"
    const actions = parsed(block("second", `${recurring}- **depends_on**: first\n`), block("first", recurring))
    const facts = PlanFacts.with(PlanFacts.of(actions), "first", { outcome: "completed" })
    assert.deepStrictEqual(ids(Plan.make(actions, facts), "run"), ["first"])
    assert.deepStrictEqual(ids(Plan.make(actions, PlanFacts.ended(facts, "first", "completed")), "run"), ["second"])
  })

  it("O17 an action without a schedule is always due", () => {
    const actions = parsed(block("a"))
    for (const now of [0, Date.UTC(2026, 0, 1), Date.UTC(2200, 0, 1)]) {
      assert.deepStrictEqual(ids(Plan.make(actions, PlanFacts.of(actions, { now })), "run"), ["a"])
    }
  })

  it("O20 delays are fixed, linear, exponential with a cap, or none; retry_on selects failures", () => {
    const delays = (text: string): ReadonlyArray<number> => {
      const delay = Retry.parseDelay(text)
      if ("refused" in delay) throw new Error(delay.refused)
      return [1, 2, 3, 4].map((failures) => Retry.delayAfter(delay, failures) / 1000)
    }
    assert.deepStrictEqual(delays("fixed:5s"), [5, 5, 5, 5])
    assert.deepStrictEqual(delays("linear:5s"), [5, 10, 15, 20])
    assert.deepStrictEqual(delays("exponential:1s,4s"), [1, 2, 4, 4])
    assert.deepStrictEqual(delays("immediate"), [0, 0, 0, 0])
    for (const wrong of ["fixed", "fixed:0s", "linear:5s,6s", "exponential:4s,1s", "often:5s", ""]) {
      assert.property(Retry.parseDelay(wrong), "refused", wrong)
    }
    const [action] = parsed(block("a", "- **retry**: 3\n- **retry_on**: status:5xx, timeout\n"))
    const { retry } = action ?? assert.fail("no action")
    assert.deepStrictEqual(["status:503", "status:404", "timeout", "connection_error"].map((failure) => Retry.isRetried(retry, failure)), [
      true, false, true, false
    ])
  })

  it("O20 a failed action is due again at its next retry, as the next attempt of its occurrence", () => {
    const actions = parsed(block("a", "- **status**: failed\n"))
    const facts = PlanFacts.of(actions, { now: 1_000 })
    const retried = PlanFacts.with(facts, "a", { retry: { occurrence: "pending:1", attempt: 2, at: 1_500, delay: 1_000 } })
    assert.deepStrictEqual(ids(Plan.make(actions, retried), "wait"), ["a"])
    assert.strictEqual(Plan.nextDue(Plan.make(actions, retried)), 1_500)
    const [decision] = Plan.make(actions, { ...retried, now: 1_500 })
    assert.deepInclude(decision, { kind: "run", attempt: 2, occurrence: { key: "pending:1", at: 1_500 } })
  })

  it("O21 the defaults are one attempt and five minutes", () => {
    const [action] = parsed(block("a"))
    assert.strictEqual(action?.retry.attempts, 1)
    assert.strictEqual(action?.timeout, 300_000)
    const [other] = parsed(block("a", "- **retry**: 3\n- **timeout**: 30s\n"))
    assert.strictEqual(other?.retry.attempts, 3)
    assert.strictEqual(other?.timeout, 30_000)
  })

  it("O41 an unknown member of a composite action is an error; known ones run through it alone", () => {
    const composite = (members: string): string =>
      `### [HIGH] All\n- **id**: all\n- **type**: composite\n- **actions**: ${members}\n- **mode**: sequential\n`
    const { actions, issues } = ControlFile.parse(control(composite("a, z"), block("a")))
    assert.deepStrictEqual(issues.map(({ code }) => code), ["agent/reference-unknown"])
    assert.deepStrictEqual(actions.map(({ id }) => id), ["a"])
    const valid = parsed(composite("a, b"), block("a"), block("b", "- **schedule**: every:5m\n"))
    assert.deepStrictEqual(ids(Plan.make(valid, PlanFacts.of(valid)), "run"), ["all", "b"])
  })

  it("O42 an action that began in the wake does not begin again, though it is due", () => {
    const actions = parsed(block("a", "- **schedule**: every:1s\n"), block("b"))
    const facts = PlanFacts.of(actions, { begun: new Set(["a"]) })
    assert.deepStrictEqual(ids(Plan.make(actions, facts), "run"), ["b"])
  })
})
