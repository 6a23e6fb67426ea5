import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Channel } from "systole"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import * as Zone from "../../src/time/Zone.ts"
import { action, fileOf, withAgent } from "./TestAgent.ts"

const issuesOf = (text: string) => ControlFiles.parse(text).issues.map(({ message, suggestion }) => `${message}; ${suggestion}`)

const scheduled = (schedule: string): string => fileOf(action("a", { type: "shell", command: "ls", schedule }))

describe("The remedy of an issue", () => {
  it.each([
    ["@daily", "write daily:00:00"], ["@hourly", "write hourly"], ["@weekly", "write cron:0 0 * * SUN"], ["@reboot", "write startup"],
    ["@every 5m", "write every:5m"], ["10m", "write every:10m"], ["02:00", "write daily:02:00"],
    ["*/5 * * * *", "write cron:*/5 * * * *"]
  ])("names the form of the schedule %s here", (schedule, expected) => {
    const [issue = ""] = issuesOf(scheduled(schedule))
    assert.isTrue(issue.endsWith(expected), issue)
  })

  it.each([
    ["cron:0 22-6 * * *", "write 22-23,0-6"], ["cron:0 0 * * FRI-MON", "write FRI-SUN,1"], ["cron:0 0 * * SAT-TUE", "write SAT-SUN,1-2"],
    ["cron:0 0 1 11-2 *", "write 11-12,1-2"]
  ])("splits a range that goes over the highest value: %s", (schedule, expected) => {
    const [issue = ""] = issuesOf(scheduled(schedule))
    assert.include(issue, expected)
    const [, parts = ""] = /write (\S+),? because/.exec(issue) ?? []
    assert.deepStrictEqual(issuesOf(scheduled(schedule.replace(/\S+-\S+/, parts.replace(/,$/, "")).replace("cron:cron:", "cron:"))), [])
  })

  it("tells a version that is a text, and lines that end with a carriage return alone", () => {
    const file = scheduled("hourly")
    assert.deepStrictEqual(issuesOf(file.replace("version: 1", "version: \"1\"")), [
      "The version \"1\" is a text, and no number; write version: 1, without quotes"
    ])
    const [issue = "", ...others] = issuesOf(file.replaceAll("\n", "\r"))
    assert.isTrue(issue.endsWith("; save it with line ends LF or CRLF"), issue)
    assert.deepStrictEqual(others, [])
  })

  it("of a time is local to the zone of the action", () => {
    const instant = Date.UTC(2024, 0, 15, 10, 30)
    assert.deepStrictEqual(["UTC", "Europe/Vienna", "America/St_Johns"].map((zone) => Zone.isoOf(instant, zone)), [
      "2024-01-15T10:30:00Z", "2024-01-15T11:30:00+01:00", "2024-01-15T07:00:00-03:30"
    ])
  })
})

describe("The failure of an action", () => {
  it.effect("says that it timed out, and the limit", () => {
    const shell = () => {
      throw Channel.fail("shell/timeout", "the program \"sleep\" was ended after 5000 ms, its limit")
    }
    const file = fileOf(action("a", { type: "shell", command: "sleep 9", status: "pending" }))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.strictEqual(fields("a")["error"], "timed out: the program \"sleep\" was ended after 5000 ms, its limit")
    }), { scripts: { shell } })
  })
})
