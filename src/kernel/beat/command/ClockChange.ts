/**
 * Changes of the space's clock: the offset, the jumps and the sleeps that the space notes, and resets.
 *
 * Each is a command in the journal, so a replay has the same clock and the same dates.
 *
 * @module
 */
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import type { Draft } from "../../../stage/Draft.ts"
import * as SpaceClock from "../../../stage/SpaceClock.ts"
import * as Write from "../../../stage/write/Write.ts"
import type { ClockCommand, QueuedCommand } from "../../model/Command.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { LiveClock } from "../../inbox/LiveClock.ts"

const ignored = (): void => {}

/** The clocks of a space and of its host. */
export interface ClockSpace {
  /** The clock of the space after the newest beat. */
  readonly clock: SpaceClock.SpaceClock
  /** The clock, over that of the host. */
  readonly liveClock: LiveClock
  /** The time since which the clock of the host has run evenly, and that after its newest step of over a day ahead. */
  readonly steady: { readonly since: number; readonly leapt: number }
  readonly store: Pick<SpaceStore, "head">
}

/**
 * The change that a beat at this clock notes by itself: the host is behind, or much time passed that no process measured;
 * `undefined` for none.
 */
export const changeAt = (
  { clock, liveClock, steady, store }: ClockSpace,
  now: number
): QueuedCommand | undefined => {
  const { beat, clock: before } = store.head()
  const ahead = liveClock.uncaptured(clock)
  if (ahead !== undefined) return { command: { kind: "clock", verb: "ahead", millis: ahead }, answer: ignored }
  const millis = now - before
  const last = liveClock.ofHost(before)
  // A process knows no time before its start, so only a clock that ran evenly since the last beat shows that the time passed.
  if (beat < 0 || millis <= SpaceClock.DAY || last >= steady.since) return undefined
  // While a process ran, its monotonic clock contradicts the jump. Otherwise the space was asleep, as far as anyone knows.
  return { command: { kind: "clock", verb: last < steady.leapt ? "jump" : "sleep", millis }, answer: ignored }
}

/**
 * Executes a change, and returns its reply.
 */
export const execute = (work: BeatTransaction, draft: Draft, { millis, verb }: ClockCommand): number | undefined => {
  const { clock, moment: { beat, clock: now } } = work
  const after = verb === "reset"
    ? SpaceClock.reset(clock, { beat, now })
    : verb === "ahead" ? SpaceClock.ahead(clock, millis, now) : SpaceClock.withJump(clock, { clock: now, millis })
  if (after === clock) return 0
  draft.operate([Write.set(SpaceClock.ADDRESS, SpaceClock.value(after))])
  work.clock = after
  if (verb === "reset") return clock.offset
  work.diagnostics.push(verb === "ahead" ? aheadFact(after) : verb === "jump" ? jumpFact(millis) : sleepFact(millis))
  return undefined
}

const origin = { kind: "runtime", name: "clock" } as const

const aheadFact = ({ offset }: SpaceClock.SpaceClock): Diagnostic.Diagnostic =>
  Diagnostic.of("clock/ahead", {
    note: `the clock of the space is ${offset} ms ahead of its host, and goes on from there. ` +
      "Set the clock of the host right, then reset that of the space: systole space clock NAME --reset",
    origin,
    subject: SpaceClock.ADDRESS
  })

const jumpFact = (millis: number): Diagnostic.Diagnostic =>
  Diagnostic.of("clock/jump", {
    note: `the clock of the host was set ${millis} ms ahead while a process ran, or its computer was asleep. ` +
      "This time makes nothing older until it is confirmed: after a day, or by the next sleep of over a day",
    origin,
    subject: SpaceClock.ADDRESS
  })

const sleepFact = (millis: number): Diagnostic.Diagnostic =>
  Diagnostic.of("clock/slept", {
    note: `the space slept ${Math.round(millis / SpaceClock.DAY * 10) / 10} days. ` +
      "This time makes nothing older until it is confirmed: after a day, or by the next sleep of over a day",
    origin,
    subject: SpaceClock.ADDRESS
  })
