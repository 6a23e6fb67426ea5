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
 * Age is by the **confirmed clock**. A step of over a day between two beats that no process measured, a jump, makes nothing
 * older while it is pending. It is confirmed once the clock is a day past it: after a day in which the space ran, or by the
 * next jump. What the host takes back of it never counts.
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

/** A longer step of the clock between two beats may be a jump. A jump is confirmed when the clock is this far past it, in milliseconds. */
export const DAY = 86_400_000

/** A reset: its beat, and the offset that it took off the dates of later beats, in milliseconds. */
export interface Shift {
  readonly beat: number
  readonly by: number
}

/**
 * The state of the clock.
 */
export interface SpaceClock {
  /** Milliseconds by which the dates are ahead of the host. */
  readonly offset: number
  readonly shifts: ReadonlyArray<Shift>
  /** The jumps that were taken back, by a host that was set back or by a reset. They never make anything older. */
  readonly jumps: ReadonlyArray<Jump>
  /** The newest jump, without what was taken back of it. Those before it are confirmed. */
  readonly jump: Jump | undefined
  /** The sum of all shifts. */
  readonly shifted: number
}

/** The clock of a space whose host was never set back. */
export const initial: SpaceClock = { offset: 0, shifts: [], jumps: [], jump: undefined, shifted: 0 }

const sum = (shifts: ReadonlyArray<Shift>): number => shifts.reduce((total, { by }) => total + by, 0)

/**
 * The clock from its cell.
 */
export const read = (document: Document.Document | undefined): SpaceClock => {
  if (document === undefined) return initial
  const { jump, jumps, offset, shifts } = Document.read(document, []) as unknown as Omit<SpaceClock, "shifted">
  return { offset, shifts, jumps, jump, shifted: sum(shifts) }
}

/**
 * The value of the cell.
 */
export const value = ({ jump, jumps, offset, shifts }: SpaceClock) =>
  ({ offset, shifts: shifts.map((shift) => ({ ...shift })), jumps: jumps.map(copy), ...jump === undefined ? {} : { jump: copy(jump) } })

const copy = (jump: Jump) => ({ ...jump })

/**
 * The milliseconds between the clock and the dates of a beat; without a beat, of the next one.
 */
export const shiftAt = ({ shifted, shifts }: SpaceClock, beat?: number): number =>
  beat === undefined ? shifted : sumBefore(shifts, beat)

/** The sum of the shifts before a beat, in milliseconds. */
export const sumBefore = (shifts: ReadonlyArray<Shift>, beat: number): number =>
  shifts.length === 0 ? 0 : sum(shifts.filter((shift) => shift.beat < beat))

/**
 * The clock after the host was found behind: ahead of it by so many milliseconds at `now`. The host takes back as much of a
 * pending jump as it went back.
 */
export const ahead = (clock: SpaceClock, millis: number, now: number): SpaceClock => {
  const offset = millis - clock.shifted
  return { ...takenBack(clock, now, offset - clock.offset), offset }
}

/** Milliseconds by which the clock is ahead of the host. */
export const aheadOf = ({ offset, shifted }: SpaceClock): number => offset + shifted

/** The clock after a jump, which confirms the one before: it is more than a day later. */
export const withJump = (clock: SpaceClock, jump: Jump): SpaceClock => ({ ...clock, jump })

/** The jump that is not confirmed at a clock. */
export const pendingJump = ({ jump }: SpaceClock, now: number): Jump | undefined =>
  jump === undefined || now >= jump.clock + DAY ? undefined : jump

/**
 * The clock after a reset in a beat. Without an offset, it takes back a pending jump: the clock of the host was wrong before it.
 */
export const reset = (clock: SpaceClock, { beat, now }: { readonly beat: number; readonly now: number }): SpaceClock => {
  const { offset, shifts } = clock
  if (offset === 0) return takenBack(clock, now, Infinity)
  const all = merged([...shifts, { beat, by: offset }])
  return { ...clock, offset: 0, shifts: all, shifted: sum(all) }
}

/** The clock without so much of a pending jump. */
const takenBack = (clock: SpaceClock, now: number, millis: number): SpaceClock => {
  const jump = pendingJump(clock, now)
  if (jump === undefined) return clock
  const [taken, rest] = [Math.min(millis, jump.millis), Math.max(0, jump.millis - millis)]
  return {
    ...clock,
    jumps: [...clock.jumps, { ...jump, millis: taken }].slice(-MOST),
    jump: rest === 0 ? undefined : { ...jump, millis: rest }
  }
}

const merged = (shifts: ReadonlyArray<Shift>): ReadonlyArray<Shift> => {
  const [first, second, ...rest] = shifts
  return shifts.length <= MOST || first === undefined || second === undefined
    ? shifts
    : [{ beat: second.beat, by: first.by + second.by }, ...rest]
}

/**
 * The jumps that make nothing older at a clock.
 */
export const uncountedJumps = (clock: SpaceClock, now: number): ReadonlyArray<Jump> => {
  const jump = pendingJump(clock, now)
  return jump === undefined ? clock.jumps : [...clock.jumps, jump]
}
