import { assert, describe, it } from "@effect/vitest"
import * as Cron from "../../src/time/Cron.ts"
import * as Schedule from "../../plugins/agent/schedule/Schedule.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as LocalClock from "./LocalClock.ts"

const zones = ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe"]

/** The year 2026, with a change of clocks forward and one back in each zone. */
const year = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) }

const clocks = new Map(zones.map((zone) => [zone, LocalClock.minutes(zone, year.from, year.to)]))

/** A field of a cron expression as text and as values. */
interface Field {
  readonly text: string
  readonly values: ReadonlySet<number>
}

const range = (from: number, to: number, step = 1): ReadonlyArray<number> =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step)

const field = (text: string, values: ReadonlyArray<number>): Field => ({ text, values: new Set(values) })

const randomList = (draw: Random.Random, low: number, high: number): Field => {
  const parts = Array.from({ length: 1 + draw(3) }, () => {
    const from = low + draw(high - low + 1)
    const to = from + draw(Math.min(high - from, 4) + 1)
    return from === to ? { text: `${from}`, values: [from] } : { text: `${from}-${to}`, values: range(from, to) }
  })
  return field(parts.map(({ text }) => text).join(","), parts.flatMap(({ values }) => values))
}

const randomField = (draw: Random.Random, low: number, high: number): Field => {
  const step = 1 + draw(Math.min(high, 20))
  const kind = draw(4)
  if (kind === 0) return field("*", range(low, high))
  if (kind === 1) return field(`*/${step}`, range(low, high, step))
  return randomList(draw, low, high)
}

/** Times near a change of clocks come up often. */
const randomFields = (draw: Random.Random): { readonly text: string; readonly fields: LocalClock.Fields } => {
  const isFixed = draw(2) === 0
  const minute = isFixed ? randomList(draw, 0, 59) : randomField(draw, 0, 59)
  const hour = isFixed ? randomList(draw, 0, draw(2) === 0 ? 3 : 23) : randomField(draw, 0, 23)
  const day = draw(2) === 0 ? field("*", []) : randomField(draw, 1, 31)
  const month = draw(2) === 0 ? field("*", []) : randomField(draw, 1, 12)
  const weekday = draw(2) === 0 ? field("*", []) : randomField(draw, 0, 6)
  const isFree = (text: string): boolean => /[*]/.test(text)
  const given = ({ text, values }: Field): ReadonlySet<number> | undefined => text === "*" ? undefined : values
  return {
    text: [minute, hour, day, month, weekday].map(({ text }) => text).join(" "),
    fields: {
      minute: minute.values,
      hour: hour.values,
      day: given(day),
      month: given(month),
      weekday: given(weekday),
      isFixed: !isFree(minute.text) && !isFree(hour.text)
    }
  }
}

const parsed = (text: string, zone: string): Schedule.Schedule => {
  const schedule = Schedule.parse(text, zone)
  return "refused" in schedule ? assert.fail(schedule.refused) : schedule
}

/** Whether an action that last ran at some time is due. */
type Model = (lastRun: number | undefined, now: number) => boolean

/** Schedules, each with its model: an interval since the last run, and a time of day on the local clock since then. */
const modelsIn = (zone: string, draw: Random.Random): ReadonlyArray<readonly [text: string, isDue: Model]> => {
  const every = (millis: number): Model => (lastRun, now) => lastRun === undefined || now - lastRun >= millis
  const daily = (hour: number, minute: number): Model => {
    const times = LocalClock.firings({
      hour: new Set([hour]), minute: new Set([minute]), day: undefined, month: undefined, weekday: undefined, isFixed: true
    }, clocks.get(zone) ?? [])
    return (lastRun = year.from, now) => times.some((time) => time > lastRun && time <= now)
  }
  const [minutes, hour, minute] = [1 + draw(90), draw(24), draw(60)]
  return [
    ["hourly", every(3_600_000)],
    [`every:${minutes}m`, every(minutes * 60_000)],
    [`every:${1 + (minutes % 9)}h`, every((1 + (minutes % 9)) * 3_600_000)],
    [`daily:${hour}:${String(minute).padStart(2, "0")}`, daily(hour, minute)],
    ["daily:02:15", daily(2, 15)]
  ]
}

/** The most firings of one schedule that a trial compares. */
const MOST = 200

describe("Schedule", () => {
  it("fires in a year with changes of clocks exactly when the reference model does, in three zones", () => {
    for (const seed of Trials.seeds(80, { least: 12 })) {
      const draw = Random.make(seed)
      const zone = Random.pick(draw, zones)
      const { fields, text } = randomFields(draw)
      const expected = LocalClock.firings(fields, clocks.get(zone) ?? [])
      const schedule = Cron.parse(text, { zone })
      if ("refused" in schedule) {
        assert.deepStrictEqual(expected, [], schedule.refused)
        continue
      }
      const first = expected.length <= MOST ? 0 : draw(expected.length - MOST)
      let at = expected[first - 1] ?? year.from - 1
      for (const time of expected.slice(first, first + MOST)) {
        const next = schedule.next(at)
        if (next !== time) assert.fail(`${text} in ${zone} fires at ${String(next)}, not at ${new Date(time).toISOString()}`)
        at = time
      }
      if (expected.length <= MOST) assert.isAtLeast(schedule.next(at) ?? year.to, year.to, `${text} in ${zone}`)
    }
  })

  it("runs daily, hourly and every action in the wakes of a year exactly as the reference model does, in three zones", () => {
    for (const [seed, zone] of zones.entries()) {
      const draw = Random.make(seed + 1)
      for (const [text, isDue] of modelsIn(zone, draw)) {
        const schedule = parsed(text, zone)
        let lastRun: number | undefined
        let runs = 0
        for (let now = year.from; now < year.to; now += 1 + draw(draw(4) === 0 ? 3 * 86_400_000 : 3_600_000)) {
          const expected = isDue(lastRun, now)
          const history = { lastRun, since: year.from, startup: undefined, change: undefined, pendings: 1 }
          if (Schedule.isDue(schedule, history, now) !== expected) {
            assert.fail(`${text} in ${zone} is ${expected ? "" : "not "}due at ${new Date(now).toISOString()}`)
          }
          if (!expected) continue
          lastRun = now
          runs++
        }
        assert.isAbove(runs, 100, text)
      }
    }
  })

  it("fires at the end of a gap for a time that is skipped, and once for a time that is doubled", () => {
    const daily = parsed("daily:02:30", "Europe/Vienna")
    assert.strictEqual(Schedule.next(daily, Date.UTC(2026, 2, 28, 12)), Date.UTC(2026, 2, 29, 1))
    const doubled = Schedule.next(daily, Date.UTC(2026, 9, 24, 12)) ?? 0
    assert.strictEqual(doubled, Date.UTC(2026, 9, 25, 0, 30))
    assert.strictEqual(Schedule.next(daily, doubled), Date.UTC(2026, 9, 26, 1, 30))
  })

  it("runs an action again soon after the clock was set back, and gives its firings new keys", () => {
    const history = { since: Date.UTC(2026, 0, 1), startup: undefined, change: undefined, pendings: 1, latest: "agent.e1" }
    const lastRun = Date.UTC(2026, 5, 1, 12)
    for (const [text, hours] of [["every:5m", 1], ["cron:*/5 * * * *", 1], ["daily:11:00", 30], ["hourly", 2]] as const) {
      const schedule = parsed(text, "UTC")
      const now = lastRun - hours * 3_600_000
      const found = Schedule.occurrence(schedule, { ...history, lastRun }, now)
      assert.isAtMost(found?.at ?? Infinity, now, text)
      assert.include(found?.key, "agent.e1", text)
    }
    const slight = Schedule.occurrence(parsed("every:5m", "UTC"), { ...history, lastRun }, lastRun - 1000)
    assert.strictEqual(slight?.at, lastRun + 300_000)
    const waiting = Schedule.occurrence(Schedule.always, { ...history, since: lastRun, lastRun: undefined }, lastRun - 3_600_000)
    assert.strictEqual(waiting?.at, lastRun - 3_600_000)
  })
})
