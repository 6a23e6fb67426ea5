import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Enzyme, Signal } from "systole"

const made = (fields: object): Enzyme.Enzyme => Enzyme.make({ name: "a", query: "/signals/a", run: () => {}, ...fields })

/** The reason why an enzyme with these fields is refused. */
const reason = (fields: object): string => {
  try {
    made(fields)
  } catch (error) {
    if (error instanceof Enzyme.InvalidEnzyme) return error.reason
    throw error
  }
  return "it is valid"
}

describe("the waits between attempts", () => {
  it("are in beats by default, and have defaults by the clock", () => {
    assert.deepStrictEqual(made({}).retry, { attempts: 10 })
    assert.deepStrictEqual(made({ retry: { attempts: 3, beats: 4 } }).retry, { attempts: 3, beats: 4 })
    assert.deepStrictEqual(made({ retry: { delay: "1s" } }).retry, { attempts: 10, delay: "1s", factor: 2, max: "1h", jitter: 0 })
    assert.deepStrictEqual(made({ retry: { delay: "2h" } }).retry, { attempts: 10, delay: "2h", factor: 2, max: "2h", jitter: 0 })
  })

  const refused: ReadonlyArray<readonly [fields: object, reason: string]> = [
    [{ attempts: 0 }, "in its retry, attempts is 0; give a whole number from 1 to 1000"],
    [{ beats: 0 }, "in its retry, beats is 0; give a whole number from 1 to 1000"],
    [{ delay: "-1s" }, "in its retry, delay is \"-1s\"; give a whole number with ms, s, m, h or d, up to 366d, such as \"10s\""],
    [{ delay: 1000 }, "in its retry, delay is 1000; give a whole number with ms, s, m, h or d, up to 366d, such as \"10s\""],
    [{ delay: "367d" }, "in its retry, delay is \"367d\"; give a whole number with ms, s, m, h or d, up to 366d, such as \"10s\""],
    [{ delay: "1s", factor: 0.5 }, "in its retry, factor is 0.5; give a number from 1 to 1000"],
    [{ delay: "1s", factor: NaN }, "in its retry, factor is null; give a number from 1 to 1000"],
    [{ delay: "1s", jitter: 1.5 }, "in its retry, jitter is 1.5; give a number from 0 to 1"],
    [{ delay: "1m", max: "1s" }, "in its retry, max is \"1s\" and shorter than delay, \"1m\"; give a longer max, or a shorter delay"],
    [{ factor: 2 }, "in its retry, factor is given without delay; give delay: \"1s\", the first wait"],
    [{ beats: 2, delay: "1s" },
      "in its retry, both beats and delay are given, and a wait is either in beats or by the clock; leave out one of them"],
    [{ wait: "1s" }, "in its retry, there is no \"wait\"; there are attempts, beats, delay, factor, max, jitter"]
  ]

  for (const [retry, expected] of refused) {
    it(`refuses ${JSON.stringify(retry)}`, () => assert.strictEqual(reason({ retry }), expected))
  }
})

describe("a schedule", () => {
  it("is a cron expression in UTC, one in a time zone, or an interval", () => {
    assert.deepStrictEqual(made({ schedule: "0 9 * * MON-FRI" }).schedule, { cron: "0 9 * * MON-FRI", timezone: "UTC" })
    const vienna = { cron: "0 9 * * *", timezone: "Europe/Vienna", spaces: ["shop"] }
    assert.deepStrictEqual(made({ schedule: vienna }).schedule, vienna)
    assert.deepStrictEqual(made({ schedule: { every: "5m" } }).schedule, { every: "5m" })
  })

  it("takes payloads of its form, with a schema or a signal of a type", () => {
    const Tick = Schema.Struct({ due: Schema.Finite, next: Schema.optionalKey(Schema.Finite) })
    assert.strictEqual(reason({ schedule: { every: "5m" }, payload: Tick }), "it is valid")
    assert.strictEqual(reason({ schedule: { every: "5m" }, query: Signal.make("/signals/tick", Tick) }), "it is valid")
    const other = "it declares schedule, and its payload does not take what that gives, " +
      "{ due: Number, next: optional Number }; declare these fields"
    assert.strictEqual(reason({ schedule: { every: "5m" }, payload: Schema.Struct({ item: Schema.String }) }), other)
    assert.strictEqual(reason({ schedule: { every: "5m" }, query: Signal.make("/signals/tick", Schema.String) }), other)
  })

  const refused: ReadonlyArray<readonly [schedule: unknown, reason: string]> = [
    ["0 9 * *", "the cron expression \"0 9 * *\" has 4 fields instead of 5"],
    ["61 9 * * *", "the cron expression \"61 9 * * *\" has \"61\" as minute"],
    ["0 22-6 * * *", "write 22-23,0-6"],
    ["0 0 30 2 *", "never matches"],
    [{ cron: "0 9 * * *", timezone: "in Vienna" },
      "the time zone \"in Vienna\" is unknown; give a name such as \"UTC\" or \"Europe/Vienna\""],
    [{ every: "5" }, "every is \"5\"; give a whole number with s, m, h or d, from 1s to 366d, such as \"5m\""],
    [{ every: "10ms" }, "every is \"10ms\""],
    [{ every: "-5m" }, "every is \"-5m\""],
    [{ every: "5m", cron: "* * * * *" }, "schedule is {\"every\":\"5m\",\"cron\":\"* * * * *\"}; give a cron expression"],
    [{ every: "5m", timezone: "UTC" }, "give a cron expression"],
    [{ timezone: "UTC" }, "give a cron expression"],
    [300, "schedule is 300; give a cron expression"],
    [{ every: "5m", spaces: [] }, "spaces has 0 names; give 1 to 1000, or leave it out for the first space"],
    [{ every: "5m", spaces: ["Home"] }, "\"Home\" is no name of a space; give one such as \"home\""]
  ]

  for (const [schedule, expected] of refused) {
    it(`refuses ${JSON.stringify(schedule)}`, () => assert.include(reason({ schedule }), expected))
  }

  it("needs a query that names one signal, and no target", () => {
    for (const query of ["", "/signals/:id", "/signals/*", "/signals/a*"]) {
      assert.include(reason({ schedule: { every: "5m" }, query }), "names no single signal to send", query)
    }
    assert.include(reason({ schedule: { every: "5m" }, target: "required" }), "a schedule sends no target; leave out one of them")
  })
})
