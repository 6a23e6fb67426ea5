/**
 * The wake time of a space as a number of 32 bits, which the field `user_version` in the header of its file has.
 *
 * @module
 */

/** The marks for "never" and for the last second that fits. */
const NEVER = 0x7fffffff
const LAST = NEVER - 1

/** The mark for all times before 1970. */
const FIRST = -1

/** Converts a wake time into a mark: a second that is not later. */
export const write = (moment: number | undefined): number =>
  moment === undefined ? NEVER : Math.min(LAST, Math.max(FIRST, Math.floor(moment / 1000)))

/** The wake time of a mark, in milliseconds since 1970; `undefined` for never. */
export const read = (mark: number): number | undefined => mark === NEVER ? undefined : mark * 1000

/** The mark in the only column of a row. */
export const inRow = (row: unknown): number => Object.values(row as object)[0] as number
