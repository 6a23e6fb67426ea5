/**
 * The clock of a space, and the dates that its runs see.
 *
 * The clock times all that waits, and never goes back. It is the host's clock, unless that was set back: then it is ahead
 * by an offset. A reset takes the offset off the dates alone, as a shift. So a wait from before ends earlier by it, and no
 * stored wait changes.
 *
 *     /sys/clock    { offset, shifts, jumps, jump? }
 *
 * The date of a beat is its clock less the shifts before it.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Jump } from "../persistence/Persistence.ts"

/** The cell of the clock. */
export const ADDRESS = Address.make("/sys/clock")

/** The most shifts and jumps that the cell keeps. Beyond it the two oldest shifts become one, and the oldest jump is dropped. */
const MOST = 64

/** A longer step of the clock between two beats counts as a jump, and makes nothing older for as long, in milliseconds. */
export const DAY = 86_400_000

/** A reset: its beat, and the offset that it took off the dates of later beats, in milliseconds. */
export interface Shift {
  readonly beat: number
  readonly by: number
}

/**
 * The state of the clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceClock {
  /** Milliseconds by which the dates are ahead of the host. */
  readonly offset: number
  readonly shifts: ReadonlyArray<Shift>
  /** The jumps that a reset took back. They make nothing older. */
  readonly jumps: ReadonlyArray<Jump>
  /** The newest jump that no reset took back. It makes nothing older for a day. */
  readonly jump: Jump | undefined
  /** The sum of all shifts. */
  readonly shifted: number
}

/** The clock of a space whose host was never set back. */
export const initial: SpaceClock = { offset: 0, shifts: [], jumps: [], jump: undefined, shifted: 0 }

const sum = (shifts: ReadonlyArray<Shift>): number => shifts.reduce((total, { by }) => total + by, 0)

/**
 * The clock from its cell.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (document: Document.Document | undefined): SpaceClock => {
  if (document === undefined) return initial
  const { jump, jumps, offset, shifts } = Document.read(document, []) as unknown as Omit<SpaceClock, "shifted">
  return { offset, shifts, jumps, jump, shifted: sum(shifts) }
}

/**
 * The value of the cell.
 *
 * @category getters
 * @since 0.1.0
 */
export const value = ({ jump, jumps, offset, shifts }: SpaceClock) =>
  ({ offset, shifts: shifts.map((shift) => ({ ...shift })), jumps: jumps.map(copy), ...jump === undefined ? {} : { jump: copy(jump) } })

const copy = (jump: Jump) => ({ ...jump })

/**
 * The milliseconds between the clock and the dates of a beat; without a beat, of the next one.
 *
 * @category getters
 * @since 0.1.0
 */
export const shiftAt = ({ shifted, shifts }: SpaceClock, beat?: number): number =>
  beat === undefined ? shifted : sumBefore(shifts, beat)

/** The sum of the shifts before a beat, in milliseconds. */
export const sumBefore = (shifts: ReadonlyArray<Shift>, beat: number): number =>
  shifts.length === 0 ? 0 : sum(shifts.filter((shift) => shift.beat < beat))

/** The clock after the host was found behind: ahead of it by so many milliseconds. */
export const ahead = (clock: SpaceClock, millis: number): SpaceClock => ({ ...clock, offset: millis - clock.shifted })

/** Milliseconds by which the clock is ahead of the host. */
export const aheadOf = ({ offset, shifted }: SpaceClock): number => offset + shifted

/**
 * The clock after a jump. A jump within the day of another one prolongs it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const jumped = (clock: SpaceClock, { clock: at, millis }: Jump): SpaceClock => {
  const { jump } = clock
  const isSame = jump !== undefined && at - millis < jump.clock + DAY
  return { ...clock, jump: isSame ? { clock: at, millis: at - jump.clock + jump.millis } : { clock: at, millis } }
}

/**
 * The clock after a reset in a beat. A jump that is not taken back yet is what set the clock ahead.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reset = (clock: SpaceClock, beat: number): SpaceClock => {
  const { jump, jumps, offset, shifts } = clock
  if (offset === 0 && jump === undefined) return clock
  const all = offset === 0 ? shifts : merged([...shifts, { beat, by: offset }])
  return {
    offset: 0,
    shifts: all,
    jumps: jump === undefined ? jumps : [...jumps, takenBack(jump, offset)].slice(-MOST),
    jump: undefined,
    shifted: sum(all)
  }
}

/** The part of a jump that a reset of this offset takes back. Without an offset the jump is the whole difference. */
const takenBack = (jump: Jump, offset: number): Jump => offset === 0 ? jump : { ...jump, millis: Math.min(jump.millis, offset) }

const merged = (shifts: ReadonlyArray<Shift>): ReadonlyArray<Shift> => {
  const [first, second, ...rest] = shifts
  return shifts.length <= MOST || first === undefined || second === undefined
    ? shifts
    : [{ beat: second.beat, by: first.by + second.by }, ...rest]
}

/**
 * The jumps that make nothing older at a clock.
 *
 * @category getters
 * @since 0.1.0
 */
export const uncounted = ({ jump, jumps }: SpaceClock, clock: number): ReadonlyArray<Jump> =>
  jump === undefined || clock >= jump.clock + DAY ? jumps : [...jumps, jump]
