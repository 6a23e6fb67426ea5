/**
 * The field `schedule` of an enzyme: when it gets events of its own, and in which spaces.
 *
 * @module
 */
import { isSpaceName } from "../persistence/SpaceName.ts"
import * as Schedules from "../time/Schedule.ts"

/** The spaces of a schedule. */
interface InSpaces {
  /** The names of the spaces, at most 1000; by default the first space of the configuration. */
  readonly spaces?: ReadonlyArray<string>
}

/**
 * The field as a definition gives it: a cron expression of five fields, an interval, or an expression in a time zone.
 */
export type GivenSchedule =
  | string
  | InSpaces & { readonly every: string; readonly cron?: never; readonly timezone?: never }
  | InSpaces & { readonly cron: string; readonly timezone?: string; readonly every?: never }

/**
 * The field of an enzyme, which is a definition, too: with its defaults. Without spaces, it is for the first one.
 */
export type Scheduling = InSpaces & Schedules.Schedule

/** The name of the first space, unless the configuration gives another one. */
export const FIRST = "home"

/** The time zone of an expression without one. */
const ZONE = "UTC"

/** The most spaces of a schedule. */
const MAX_SPACES = 1000

const isText = (value: unknown): value is string => typeof value === "string"

const isList = (value: unknown): boolean => value === undefined || Array.isArray(value) && value.every(isText)

/** Whether a value has the form of the field. */
export const fits = (value: unknown): boolean => {
  if (isText(value)) return true
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const { cron, every, spaces, timezone, ...rest } = value as Readonly<Record<string, unknown>>
  const isOne = isText(every) ? cron === undefined && timezone === undefined : every === undefined && isText(cron)
  return isOne && (timezone === undefined || isText(timezone)) && isList(spaces) && Object.keys(rest).length === 0
}

export const EXPECTED = "a cron expression such as \"0 9 * * MON-FRI\", { every: \"5m\" } or { cron, timezone }, the latter two with spaces"

/**
 * Checks the field.
 *
 * @throws Error with the reason
 */
export const check = (given: GivenSchedule): void => {
  const { spaces = [FIRST], ...schedule } = decode(given)!
  const refused = Schedules.refusal(schedule as Schedules.Schedule)
  if (refused !== undefined) throw new Error(`${refused.refused}; ${refused.suggestion}`)
  if (spaces.length === 0 || spaces.length > MAX_SPACES) {
    throw new Error(`spaces has ${spaces.length} names; give 1 to ${MAX_SPACES}, or leave it out for the first space`)
  }
  const wrong = spaces.find((name) => !isSpaceName(name))
  if (wrong !== undefined) throw new Error(`"${wrong.slice(0, 100)}" is no name of a space; give one such as "${FIRST}"`)
}

/** Returns the field of an enzyme from one that fits; `undefined` for none. */
export const decode = (given: GivenSchedule | undefined): Scheduling | undefined => {
  if (given === undefined) return undefined
  if (typeof given === "string") return { cron: given, timezone: ZONE }
  const spaces = given.spaces && { spaces: given.spaces }
  return given.every === undefined ? { cron: given.cron, timezone: given.timezone ?? ZONE, ...spaces } : { every: given.every, ...spaces }
}

/**
 * Returns the reason why this host cannot plan a schedule: it lacks the time zone. A replay takes the due times of the journal, so it
 * needs none.
 */
export const refusalHere = (scheduling: Scheduling): string | undefined => {
  const refused = Schedules.refusalHere(scheduling)
  return refused && `"schedule" cannot be planned here, because ${refused.refused}; ${refused.suggestion}`
}

/**
 * Tests whether an enzyme with this field has a schedule in a space.
 */
export const isIn = ({ spaces }: Scheduling, space: string, first: string): boolean => spaces?.includes(space) ?? space === first

/** The payload of an event of a schedule: two due times, in milliseconds since 1970. */
export interface ScheduledPayload {
  /** The due time. Of several that were missed it is the first. */
  readonly due: number
  /** The next due time; absent if there is none. */
  readonly next?: number
}

/** Payloads of both forms, on which a schema is tried. */
export const samples: ReadonlyArray<ScheduledPayload> = [{ due: 1_700_000_000_000, next: 1_700_000_060_000 }, { due: 1_700_000_000_000 }]
