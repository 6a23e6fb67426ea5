/**
 * Due times: a beat number, a time, or both.
 *
 * Beats run as fast as there is work, so a number of beats implies no duration. A wait in beats therefore ends when
 * both their number and their duration by the tempo of the space have passed.
 *
 * @module
 */
import * as Duration from "../time/Duration.ts"
import type { BeatClock } from "./BeatClock.ts"

/** The end of a wait: a beat number, a time in milliseconds since 1970, or both. */
export interface Due {
  readonly beat: number | undefined
  readonly moment: number | undefined
}

/** The maximum length of a wait, in beats or in milliseconds (about 278 years). */
export const MAX_WAIT = 2 ** 43

/** The current beat, its clock, and the tempo: the nominal duration of a beat. */
export type Now = Pick<BeatClock, "beat" | "clock" | "tempo">

/**
 * Returns the due time `beats` beats from now, at most {@link MAX_WAIT}.
 */
export const after = (beats: number, { beat, clock, tempo }: Now): { readonly beat: number; readonly moment: number } => ({
  beat: beat + beats,
  moment: Math.min(clock + beats * tempo, Number.MAX_SAFE_INTEGER)
})

/** The length of a beat, in milliseconds, for a wait as a time in a space whose tempo is 0, as in tests. */
const LENGTH = 100

/**
 * A wait in beats: a duration such as `"10s"` is rounded up to beats by the tempo, and each other value stays as it is. With the
 * tempo 0 a beat counts as 100 ms.
 */
export const inBeats = <A>(wait: A, { tempo }: Pick<Now, "tempo">): A | number => {
  const ms = typeof wait === "string" ? Duration.parse(wait) : undefined
  return ms === undefined ? wait : Math.ceil(ms / (tempo === 0 ? LENGTH : tempo))
}

/**
 * The beats of a wait: a number, also as a text, or a duration as for {@link inBeats}; NaN for another text. A minus before either
 * leads back.
 */
export const beatsOf = (wait: number | string, now: Pick<Now, "tempo">): number => {
  if (typeof wait !== "string") return wait
  const length = wait.startsWith("-") ? wait.slice(1) : wait
  const beats = /^\d{1,16}$/.test(length) ? Number(length) : inBeats(length, now)
  return typeof beats === "string" ? NaN : length === wait ? beats : -beats
}

/**
 * Tests whether a wait is over.
 */
export const isOver = ({ beat = 0, moment = 0 }: Due, now: Pick<Now, "beat" | "clock">): boolean => now.beat >= beat && now.clock >= moment
