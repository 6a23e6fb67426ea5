/**
 * Time: the beats that an entry waits for.
 *
 * A beat that was named is reached by its number alone. One that was told by so
 * many beats from another has a clock, too, before which it does not come.
 * (Architecture, section 1.2.)
 *
 * @module
 */
import type { Now } from "../stage/Due.ts"
import * as Due from "../stage/Due.ts"

/**
 * A beat of an entry: its number, and the clock before which it does not come; 0 where its number is enough.
 *
 * @category models
 * @since 0.1.0
 */
export interface Time {
  readonly beat: number
  readonly ms: number
}

/** No beat at all. */
export const never: Time = { beat: 0, ms: 0 }

/** A beat that is named. */
export const named = (beat: number): Time => ({ beat, ms: 0 })

/** So many beats from now. */
export const after = (beats: number, now: Now): Time => {
  const { beat, moment } = Due.after(beats, now)
  return { beat, ms: moment }
}

/** So many beats after a time. One that was named has no clock to count from: what is beyond it is so many beats from now, in all. */
export const later = ({ beat, ms }: Time, beats: number, now: Now): Time => {
  const own = ms > 0 ? ms + beats * now.tempo : after(beat + beats - now.beat, now).ms
  return { beat: beat + beats, ms: ms === 0 && beats <= 0 ? 0 : Math.min(Math.max(own, 0), Number.MAX_SAFE_INTEGER) }
}

/** Whether it has come. */
export const isReached = ({ beat, ms }: Time, now: Now): boolean => Due.isOver({ beat, moment: ms }, now)

/** When it comes, at the soonest in the beat after this one. */
export const due = ({ beat, ms }: Time, now: Now): Due.Due => ({ beat: Math.max(now.beat + 1, beat), moment: ms > 0 ? ms : undefined })
