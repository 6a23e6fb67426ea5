/**
 * The time of the next attempt at a handling: as its run asked, or as its enzyme declares.
 *
 * It follows from the clock, the seed and the code of the beat, so a replay finds the same one.
 *
 * @module
 */
import * as Retrying from "../../../registry/Retrying.ts"
import type { Due } from "../../../stage/Due.ts"
import * as Random from "../../../stage/Random.ts"
import * as Duration from "../../../time/Duration.ts"
import * as Moment from "../../../time/Moment.ts"
import type { RunFailure } from "../../model/InFlight.ts"
import type { Limits, Settings } from "../../model/Limits.ts"
import * as Signal from "../../model/Signal.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { ExecutedHandling } from "../Phases.ts"

/** The generators of waits follow those of runs, so that a wait tells nothing of what its run drew. */
const AFTER_RUNS = 2 ** 30

/** The code of a wait that cannot be read. */
const CODE = "run/retry-after"

const EXPECTED = "give a duration such as \"10s\", a time with its offset such as \"2026-01-15T14:00:00Z\", a Date, or { beats }"

/** The beat that decides, and the state of its space. */
interface Deciding {
  readonly transaction: BeatTransaction
  readonly state: { readonly settings: Settings }
}

/** The time of an attempt: when it is due, and its date, if it is by the clock. */
export interface RetryTime {
  readonly due: Due
  readonly date: number | undefined
}

/**
 * Decides the time of the next attempt. A wait that cannot be read fails the handling.
 */
export const decide = (handling: ExecutedHandling, outcome: RunFailure, { state, transaction }: Deciding): RetryTime | RunFailure => {
  const { moment } = transaction
  const { limits, limits: { backoffBeats }, tempo } = state.settings
  const asked = outcome.after === undefined ? undefined : waitOf(outcome.after, moment.date, limits)
  if (typeof asked === "string") {
    const most = `up to ${limits.retryMillis} milliseconds or ${limits.retryBeats} beats ahead`
    const message = `The run asks for another attempt after ${asked}; ${EXPECTED}, ${most}`
    return { kind: "dead", tag: "RetryAfterInvalid", code: CODE, message }
  }
  const draw = (): number => Random.make(moment.seed, AFTER_RUNS + handling.run)()
  const { attempt, entry } = handling
  const wait = asked ?? Retrying.waitOf(entry?.enzyme.retry ?? Retrying.decode(), { attempt, backoffBeats, draw })
  const due = Signal.dueOf(wait, { beat: moment.beat, clock: moment.clock, tempo })
  return { due, date: "ms" in wait ? moment.date + wait.ms : undefined }
}

/** The wait that a run asks for, at a date; a text that shows it, if it cannot be read. */
const waitOf = (after: unknown, date: number, { retryBeats, retryMillis }: Limits): Retrying.Wait | string => {
  if (typeof after === "object" && after !== null && "beats" in after) {
    const { beats } = after
    return Number.isSafeInteger(beats) && Number(beats) >= 1 && Number(beats) <= retryBeats ? { beats: Number(beats) } : shown(after)
  }
  const ms = typeof after !== "string" ? undefined : nothing.has(after) ? 0 : Duration.parse(after)
  if (ms !== undefined) return ms <= retryMillis ? { ms } : shown(after)
  const at = after instanceof Date ? after.getTime() : typeof after === "string" ? Moment.parse(after) : undefined
  return at !== undefined && at - date <= retryMillis ? { ms: Math.max(0, at - date) } : shown(after)
}

/** The waits of no length, which servers ask for: the next beat, as after a time that is past. */
const nothing: ReadonlySet<string> = new Set(["0ms", "0s", "0m", "0h", "0d"])

/** The most characters of a wait in a message. */
const MAX_SHOWN = 100

/** A wait in a message. Not every value has a JSON text. */
const shown = (after: unknown): string => {
  try {
    return (JSON.stringify(after) ?? String(after)).slice(0, MAX_SHOWN)
  } catch {
    return `a ${typeof after}`
  }
}
