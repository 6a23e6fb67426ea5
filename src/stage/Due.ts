/**
 * Due: when a wait is over.
 *
 * Beats run as fast as there is something to do, so a number of them says little
 * of time: a wait of so many beats needs their number and the time that they take
 * by the tempo of their space. (Architecture, section 1.2.)
 *
 * @module
 */
import type { Moment } from "./Moment.ts"

/** When a wait is over: at a beat's number, at a moment, or at both. */
export interface Due {
  readonly beat: number | undefined
  readonly moment: number | undefined
}

/** Furthest that a wait reaches, in beats or in milliseconds: of these about 285 years. */
export const MAX_WAIT = 2 ** 43

/** The beat in which something is asked, its clock, and how long a beat is meant to take. */
export type Now = Pick<Moment, "beat" | "now" | "tempo">

/**
 * So many beats from now, at most {@link MAX_WAIT}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const after = (beats: number, { beat, now, tempo }: Now): { readonly beat: number; readonly moment: number } => ({
  beat: beat + beats,
  moment: Math.min(now + beats * tempo, Number.MAX_SAFE_INTEGER)
})

/**
 * Whether a wait is over.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isOver = ({ beat = 0, moment = 0 }: Due, now: Pick<Now, "beat" | "now">): boolean => now.beat >= beat && now.now >= moment
