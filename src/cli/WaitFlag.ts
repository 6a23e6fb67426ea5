/**
 * The flag `--wait`: a duration such as `10s`, or whole seconds.
 *
 * @module
 */
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import * as Duration from "../time/Duration.ts"

/** The bounds of a wait, in seconds. */
export interface Bounds {
  readonly least: number
  readonly most: number
}

/** The times of nothing, which are no duration. */
const ZERO = /^0(?:ms|[smhd])$/

/** The whole seconds of a text. The header `prefer` has no shorter ones, so a part of a second counts as one. */
const secondsOf = (text: string): number => {
  if (ZERO.test(text)) return 0
  return /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((Duration.parse(text) ?? NaN) / 1000)
}

/**
 * The flag, whose value is in seconds.
 */
export const make = (description: string, { least, most }: Bounds) =>
  Flag.String("wait").pipe(
    Flag.withDescription(description),
    Flag.filterMap(
      (text) => {
        const seconds = secondsOf(text)
        return seconds >= least && seconds <= most ? Option.some(seconds) : Option.none()
      },
      (text) => `--wait ${text} is no wait from ${least} to ${most} seconds. Write it like 10s, 500ms or 1m`
    ),
    Flag.optional
  )
