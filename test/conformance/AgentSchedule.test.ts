import { assert, describe, it } from "@effect/vitest"
import * as Condition from "../../plugins/agent/schedule/Condition.ts"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Schedule from "../../plugins/agent/schedule/Schedule.ts"
import { control } from "../agent/Sample.ts"

const parsed = (text: string, zone = "UTC"): Schedule.Schedule => {
  const schedule = Schedule.parse(text, zone)
  return "refused" in schedule ? assert.fail(schedule.refused) : schedule
}

const refused = (text: string): string => {
  const schedule = Schedule.parse(text, "UTC")
  return "refused" in schedule ? schedule.refused : assert.fail(`${text} is accepted`)
}

const at = (time: string): number => Date.parse(`2024-01-15T${time}:00Z`)

const history = (changed: Partial<Schedule.History> = {}): Schedule.History =>
  ({ lastRun: undefined, since: at("00:00"), startup: undefined, change: undefined, pendings: 1, ...changed })

const isDue = (text: string, lastRun: number | undefined, now: number): boolean => Schedule.isDue(parsed(text), history({ lastRun }), now)

/** The first matches of a cron expression in a year. */
const matches = (expression: string, count: number, from = Date.UTC(2026, 0, 1) - 1): ReadonlyArray<string> => {
  const schedule = parsed(`cron:${expression}`)
  const found: Array<string> = []
  let time = Schedule.next(schedule, from)
  while (time !== undefined && found.length < count) {
    found.push(new Date(time).toISOString().slice(0, 16))
    time = Schedule.next(schedule, time)
  }
  return found
}

const environment: Condition.Environment = {
  now: Date.UTC(2026, 0, 5, 21, 30),
  zone: "Europe/Vienna",
  files: new Set(["data/a.csv", "logs/*.log"]),
  variables: new Set(["HOME"]),
  outcomes: new Map([["self", "open"], ["a", "completed"], ["b", "failed"]]),
  self: "self"
}

const holds = (text: string, changed: Partial<Condition.Environment> = {}): boolean => {
  const condition = Condition.parse(text)
  return "refused" in condition ? assert.fail(condition.refused) : Condition.evaluate(condition, { ...environment, ...changed })
}

describe("O: schedules and conditions", () => {
  it("O9 at 10:32 an interval of 5 minutes is due after 10:25, not after 10:30; */10 is due after 10:20", () => {
    assert.isFalse(isDue("every:5m", at("10:30"), at("10:32")))
    assert.isTrue(isDue("every:5m", at("10:25"), at("10:32")))
    assert.isTrue(isDue("cron:*/10 * * * *", at("10:20"), at("10:32")))
    assert.strictEqual(Schedule.occurrence(parsed("every:5m"), history({ lastRun: at("10:30") }), at("10:32"))?.at, at("10:35"))
    assert.isTrue(isDue("every:5m", at("10:25"), at("10:30")), "at the due time itself")
  })

  it("O9 missed times collapse to one run", () => {
    const schedule = parsed("cron:*/10 * * * *")
    const missed = Schedule.occurrence(schedule, history({ lastRun: at("02:00") }), at("10:32"))
    assert.strictEqual(missed?.at, at("02:10"))
    assert.deepStrictEqual(Schedule.occurrence(schedule, history({ lastRun: at("02:00") }), at("10:40")), missed, "the same one later")
    assert.isFalse(Schedule.isDue(schedule, history({ lastRun: at("10:32") }), at("10:32")))
  })

  it("O12 intervals of seconds, minutes, hours and days parse, and others are refused", () => {
    const intervals = ["every:30s", "every:5m", "every:1h", "every:2d"].map((text) => Schedule.next(parsed(text), 0))
    assert.deepStrictEqual(intervals, [30_000, 300_000, 3_600_000, 172_800_000])
    const wrong = ["every:0s", "every:-1m", "every:5x", "every:", "every:500ms", "every:1.5h", "every:400d", "every", ""]
    for (const text of wrong) refused(text)
  })

  it("O13 a past time that never ran is due once; a future one is not; one that ran never again", () => {
    assert.isTrue(isDue("at:2024-01-15T09:00:00Z", undefined, at("10:32")))
    assert.isFalse(isDue("at:2024-01-15T11:00:00Z", undefined, at("10:32")))
    assert.isFalse(isDue("at:2024-01-15T09:00:00Z", at("09:00"), at("10:32")))
    const local = parsed("at:2024-07-15T14:00", "Europe/Vienna")
    assert.strictEqual(Schedule.next(local, 0), Date.UTC(2024, 6, 15, 12))
    assert.strictEqual(Schedule.next(parsed("at:2024-01-15T14:00:00+02:00"), 0), Date.UTC(2024, 0, 15, 12))
    for (const text of ["at:", "at:tomorrow", "at:2024-02-30T10:00:00Z", "at:2024-01-15T25:00:00Z"]) refused(text)
  })

  it("O14 cron takes steps, ranges, lists and names; both days join by OR; Feb 29 waits for it", () => {
    assert.deepStrictEqual(matches("*/5 * * * *", 3), ["2026-01-01T00:00", "2026-01-01T00:05", "2026-01-01T00:10"])
    assert.deepStrictEqual(matches("0 9-11 * * *", 4), ["2026-01-01T09:00", "2026-01-01T10:00", "2026-01-01T11:00", "2026-01-02T09:00"])
    assert.deepStrictEqual(matches("15,45 8 * * *", 3), ["2026-01-01T08:15", "2026-01-01T08:45", "2026-01-02T08:15"])
    assert.deepStrictEqual(matches("0 0 * * MON-FRI", 4), ["2026-01-01T00:00", "2026-01-02T00:00", "2026-01-05T00:00", "2026-01-06T00:00"])
    assert.deepStrictEqual(matches("0 0 * * fri-SUN", 3), ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"])
    assert.deepStrictEqual(matches("0 0 8 * MON", 3), ["2026-01-05T00:00", "2026-01-08T00:00", "2026-01-12T00:00"])
    assert.deepStrictEqual(matches("0 0 29 FEB *", 2), ["2028-02-29T00:00", "2032-02-29T00:00"])
  })

  it.each([
    "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8", "* * * *", "* * * * * *", "", "*/0 * * * *",
    "5/5 * * * *", "5-1 * * * *", "1,,2 * * * *", "@daily", "0 0 L * *", "0 0 * * MON#1", "0 0 * FEBRUARY *", "0 0 31 2 *",
    "0 0 30,31 FEB *", "a * * * *"
  ])("O14 cron refuses %s", (expression) => assert.include(refused(`cron:${expression}`), "cron expression"))

  it("O16 hourly runs an hour after its last run; startup once for each start of the process", () => {
    assert.isTrue(isDue("hourly", undefined, at("00:00")))
    assert.isFalse(isDue("hourly", at("10:00"), at("10:59")))
    assert.isTrue(isDue("hourly", at("10:00"), at("11:00")))
    const startup = parsed("startup")
    assert.isFalse(Schedule.isDue(startup, history(), at("10:00")))
    assert.strictEqual(Schedule.occurrence(startup, history({ startup: "p1" }), at("10:00"))?.key, "startup:p1")
    assert.strictEqual(Schedule.occurrence(startup, history({ startup: "p2", lastRun: at("09:00") }), at("10:00"))?.key, "startup:p2")
  })

  it("O16 on_change runs once for each digest of a change that no run has handled", () => {
    const schedule = parsed("on_change:config/app.json")
    assert.deepStrictEqual(schedule, { kind: "on_change", path: "config/app.json" })
    assert.isFalse(Schedule.isDue(schedule, history(), at("10:00")))
    assert.strictEqual(Schedule.occurrence(schedule, history({ change: "abc" }), at("10:00"))?.key, "change:abc")
    refused("on_change:")
  })

  it("O16 a cron schedule that never ran waits for its first match after the agent saw it", () => {
    const schedule = parsed("daily:02:00")
    assert.isFalse(Schedule.isDue(schedule, history({ since: at("03:00") }), at("10:00")))
    assert.isTrue(Schedule.isDue(schedule, history({ since: at("01:00") }), at("10:00")))
    for (const text of ["daily:24:00", "daily:2", "daily", "hourly:5", "startup:now", "weekly:1"]) refused(text)
  })

  it("O17 an action without a schedule is due each time that it becomes pending", () => {
    const keyOf = (pendings: number): string | undefined => Schedule.occurrence(Schedule.always, history({ pendings }), at("10:00"))?.key
    assert.match(keyOf(3) ?? "none", /^pending:3/)
    assert.strictEqual(keyOf(3), keyOf(3))
    assert.notStrictEqual(keyOf(4), keyOf(3))
  })

  it.each([
    ["file_exists:data/a.csv", true], ["file_exists:data/b.csv", false], ["file_exists:logs/*.log", true], ["file_exists:\"a b\"", false],
    ["env_set:HOME", true], ["env_set:NOWHERE", false],
    ["time_after:22:00", true], ["time_after:22:31", false], ["time_before:22:31", true], ["time_before:22:30", false],
    ["weekday:mon,tue", true], ["weekday:sat-sun", false], ["weekday:sun-mon", true],
    ["action_completed:a", true], ["action_completed:b", false], ["action_completed:none", false],
    ["action_failed:b", true], ["action_failed:a", false], ["any_failed", true], ["all_completed", false],
    ["NOT any_failed", false], ["NOT NOT any_failed", true],
    ["any_failed OR all_completed AND all_completed", true], ["NOT any_failed OR env_set:HOME", true],
    ["NOT any_failed AND env_set:HOME", false],
    ["env_set:HOME\nAND NOT\n  all_completed", true], ["env_set:HOME\nall_completed", false], ["env_set:HOME OR\nall_completed", true]
  ])("O25 the condition %j is %s", (text, expected) => assert.strictEqual(holds(text), expected))

  it("O25 an unknown condition is an error of validation, not false", () => {
    const incomplete = ["", "NOT", "any_failed AND", "OR any_failed", "any_failed all_completed"]
    for (const text of ["any_faild", ...incomplete, "time_after:25:00", "weekday:noday", "env_set:a b"]) {
      assert.property(Condition.parse(text), "refused", text)
    }
    const file = ControlFile.parse(control("### [LOW] A\n- **id**: a\n- **type**: shell\n- **command**: x\n- **condition**: any_faild\n"))
    assert.deepStrictEqual(file.issues.map(({ code, column, line }) => [code, line, column]), [["agent/field-invalid", 14, 18]])
    assert.include(file.issues[0]?.suggestion, "any_failed")
  })

  it("O25 a range over midnight that is joined by AND is never true, and a warning tells it", () => {
    const night = "time_after:22:00 AND time_before:06:00"
    const text = control(`### [LOW] A\n- **id**: a\n- **type**: shell\n- **command**: x\n- **condition**: ${night}\n`)
    const { actions, issues } = ControlFile.parse(text)
    assert.deepStrictEqual(issues.map(({ code, severity }) => [code, severity]), [["agent/condition-doubtful", "warning"]])
    assert.strictEqual(actions.length, 1)
    for (let hour = 0; hour < 24; hour++) assert.isFalse(holds(night, { now: Date.UTC(2026, 0, 5, hour) }))
    assert.deepStrictEqual(ControlFile.parse(text.replace(" AND ", " OR ")).issues, [])
  })

  it("O26 any_failed and all_completed speak of the other actions of the file", () => {
    const outcomes = (...all: ReadonlyArray<Condition.Outcome>) =>
      ({ outcomes: new Map(all.map((outcome, i) => [i === 0 ? "self" : `a${i}`, outcome])) })
    assert.isTrue(holds("all_completed", outcomes("open", "completed", "completed")))
    assert.isFalse(holds("all_completed", outcomes("open", "completed", "skipped")))
    assert.isFalse(holds("any_failed", outcomes("failed", "completed", "open")))
    assert.isTrue(holds("any_failed", outcomes("open", "completed", "failed")))
  })
})
