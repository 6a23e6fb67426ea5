/**
 * Time: a beat that an entry waits for.
 *
 * An absolute beat is reached by its number alone. A relative one, a number of
 * beats from another, also has a clock before which it is not reached.
 *
 * @module
 */
import type { Now } from "../stage/Due.ts"
import * as Due from "../stage/Due.ts"

/**
 * A beat of an entry: its number, and the clock before which it is not reached; 0 for an absolute beat.
 */
export interface Time {
  readonly beat: number
  readonly ms: number
}

/** No beat. */
export const never: Time = { beat: 0, ms: 0 }

/** An absolute beat. */
export const named = (beat: number): Time => ({ beat, ms: 0 })

/** A number of beats from now. */
export const after = (beats: number, now: Now): Time => {
  const { beat, moment } = Due.after(beats, now)
  return { beat, ms: moment }
}

/** A number of beats after a time. An absolute time has no clock, so a relative time beyond it counts from now. */
export const later = ({ beat, ms }: Time, beats: number, now: Now): Time => {
  const own = ms > 0 ? ms + beats * now.tempo : after(beat + beats - now.beat, now).ms
  return { beat: beat + beats, ms: ms === 0 && beats <= 0 ? 0 : Math.min(Math.max(own, 0), Number.MAX_SAFE_INTEGER) }
}

/** Whether it is reached. */
export const isReached = ({ beat, ms }: Time, now: Pick<Now, "beat" | "clock">): boolean => Due.isOver({ beat, moment: ms }, now)

/** The due time, in the next beat at the earliest. */
export const due = ({ beat, ms }: Time, now: Now): Due.Due => ({ beat: Math.max(now.beat + 1, beat), moment: ms > 0 ? ms : undefined })
