/**
 * The settings of an agent.
 *
 * @module
 */
import * as Result from "effect/Result"
import { Duration, Zone } from "systole/time"
import { defaults as actionDefaults, type Defaults } from "../document/Action.ts"

/**
 * The settings of an agent for one control file.
 */
export interface Settings {
  /** The time zone, the attempts and the time limit of actions that do not say. */
  readonly defaults: Omit<Defaults, "types">
  /** The time of a wake, in milliseconds. */
  readonly budget: number
  /** The minute of the day at which "Completed Today" is cleared. */
  readonly reset: number
  /** The most actions at the same time, beside those of the background. */
  readonly maxConcurrent: number
  /** `hold`: a new or changed `shell` action waits for its approval. */
  readonly approval: "hold" | "none"
}

const MINUTES = 60

/** The settings without a configuration. */
export const defaults: Settings = { defaults: actionDefaults, budget: 300_000, reset: 240, maxConcurrent: 1, approval: "hold" }

/** The settings as texts, by name. */
export type Texts = Readonly<{ [name: string]: string | undefined }>

/** A setting that is not valid. */
export interface Misfit {
  readonly name: string
  readonly value: string
  readonly remedy: string
}

const DURATION = "Write one such as 30s, 5m or 1h"

const minuteOf = (text: string): number | undefined => {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hour === undefined ? undefined : Number(hour) * MINUTES + Number(minute)
}

/** Reads one text, or throws its misfit. */
type Reader<A> = (text: string | undefined, name: string) => A

const reader = <A>(absent: A, parse: (text: string) => A | undefined, remedy: string): Reader<A> => (text, name) => {
  const value = text === undefined ? absent : parse(text)
  if (value === undefined) throw { name, value: text, remedy } as Misfit
  return value
}

const count = (absent: number, pattern: RegExp, remedy: string): Reader<number> =>
  reader(absent, (text) => pattern.test(text) ? Number(text) : undefined, remedy)

const readers = {
  timezone: reader(defaults.defaults.zone, (text) => Zone.isZone(text) ? text : undefined, "Write a name of IANA, such as Europe/Vienna"),
  timeout: reader(defaults.defaults.timeout, Duration.parse, DURATION),
  attempts: count(defaults.defaults.attempts, /^[1-9]\d?$|^100$/, "Write a number from 1 to 100"),
  budget: reader(defaults.budget, Duration.parse, DURATION),
  reset: reader(defaults.reset, minuteOf, "Write a time of day such as 04:00"),
  maxConcurrent: count(defaults.maxConcurrent, /^[1-9]\d?$/, "Write a number from 1 to 99"),
  approval: reader<Settings["approval"]>(
    defaults.approval,
    (text) => text === "hold" || text === "none" ? text : undefined,
    "Write hold or none"
  )
}

/** The names of the settings. */
export const names = Object.keys(readers) as ReadonlyArray<keyof typeof readers>

/**
 * Reads settings from texts. Absent ones have their defaults.
 */
export const parse = (texts: Texts): Result.Result<Settings, Misfit> => {
  const read = <Name extends keyof typeof readers>(name: Name) => readers[name](texts[name], name) as ReturnType<typeof readers[Name]>
  return Result.try({
    try: () => ({
      defaults: { ...defaults.defaults, zone: read("timezone"), timeout: read("timeout"), attempts: read("attempts") },
      budget: read("budget"),
      reset: read("reset"),
      maxConcurrent: read("maxConcurrent"),
      approval: read("approval")
    }),
    catch: (misfit) => misfit as Misfit
  })
}

const DAY_MINUTES = 1440
const MINUTE = 60_000

/**
 * The day to which a moment belongs, as `2024-01-15`. A day begins at the reset.
 */
export const dayOf = (now: number, { defaults: { zone }, reset }: Settings): string => {
  const { day, hour, minute, month, year } = Zone.localOf(now, zone)
  const isBefore = hour * MINUTES + minute < reset
  return new Date(Date.UTC(year, month - 1, day) - (isBefore ? DAY_MINUTES * MINUTE : 0)).toISOString().slice(0, 10)
}
