/**
 * The time at which a space next has work without further input.
 *
 * An open space arms its wake timer with it. Each flush stores it, so a closed
 * space is opened at that time and no earlier.
 *
 * @module
 */
import * as SpaceClock from "../../../stage/SpaceClock.ts"
import type { LiveState } from "./LiveState.ts"
import * as Awaited from "../../model/Awaited.ts"
import { isAdvancing } from "../../model/SpaceMode.ts"
import type { NextDue } from "../../inbox/TimerQueue.ts"

/** The members of the state of a space that wake times use. */
type State = Pick<
  LiveState,
  "arrived" | "bindings" | "clock" | "departures" | "derivation" | "documents" | "enzymes" | "host" | "inbox" | "ledgers" |
  "liveClock" | "mode" | "schedules" | "settings" | "space" | "states" | "store"
>

/**
 * The timer that is due first. Before the first beat, waits in beats count from the time the space was opened.
 */
export const wait = ({ inbox, mode: { control }, settings, store }: State, opened: number): NextDue | undefined => {
  const { beat, clock } = store.head()
  const next = inbox.waits.next({ beat, clock: beat < 0 ? Math.max(clock, opened) : clock, tempo: settings.tempo })
  const until = control?.until
  return until === undefined || (next !== undefined && next.moment <= until.moment) ? next : until
}

/**
 * The time at which the first timer or schedule is due, the first gate of a node opens, or a ledger begins delayed work, in
 * milliseconds since 1970.
 */
export const nextTime = (state: State, opened: number): number | undefined => {
  const { derivation, schedules } = state
  const times = [wait(state, opened)?.moment, derivation.nextDue, delayed(state), schedules.nextDue(state)]
  const moment = Math.min(...times.map((time) => time ?? Infinity))
  return moment === Infinity ? undefined : moment
}

/** The time at which a ledger begins delayed work; `undefined` for none. A detached space begins none. */
export const delayed = ({ ledgers, mode, states }: Pick<State, "ledgers" | "mode" | "states">): number | undefined =>
  mode.detached === undefined ? ledgers.nextDue(states) : undefined

/** Whether signals, a schedule or the input of ledgers wait for a beat. */
export const hasInput = (state: State): boolean => {
  const { host, inbox, ledgers, mode, schedules, states, store } = state
  const clock = host.now()
  return inbox.isRunnable({ beat: store.head().beat + 1, clock }) || schedules.isNow(state, clock) || ledgers.isWaiting(states, mode.gated)
}

/**
 * Whether a beat has work now. Signals whose only enzyme is left out are set aside first.
 */
export const isNow = (state: State): boolean => {
  const { bindings, derivation, enzymes, host, inbox, ledgers, liveClock, mode, schedules, settings, states, store } = state
  const { beat } = store.head()
  if (isAdvancing(mode) || (beat < 0 && settings.boot) || state.arrived?.beat === beat) return true
  if (enzymes.leavesOut) {
    inbox.setAside((signal) => enzymes.resolve(signal.signal, signal.target, Awaited.tableFor(bindings, signal)), enzymes.version)
  }
  const clock = host.now()
  // An offset that no beat has captured would be lost when the space is closed, and its waits would begin anew.
  if (liveClock.uncaptured(state.clock) !== undefined) return true
  if (inbox.held.isStale(enzymes.revision) || inbox.isRunnable({ beat: beat + 1, clock })) return true
  return derivation.isRunnable(clock) || schedules.isNow(state, clock) || ledgers.isWaiting(states, mode.gated)
}

/**
 * The wake time of a space whose signals wait for other spaces. It is before that of all other work, so such a space is opened first.
 * The difference is a second, the unit of the marks of stores.
 */
export const SENDING = -1000

/**
 * The time of the space's next work, in milliseconds since 1970: {@link SENDING} or 0 for now, `undefined` for never.
 */
export const next = (
  state: State,
  { byHand, isRunning, opened }: { readonly byHand: boolean; readonly isRunning: boolean; readonly opened: number }
): number | undefined => {
  const { departures, inbox, ledgers, mode: { detached }, settings: { heldMillis }, states } = state
  const isExpected = detached === undefined && ledgers.isExpected(states)
  // A host that sleeps has no work for a space whose beats run by hand.
  if (byHand && heldMillis !== undefined && !isRunning) return heldTime(state)
  if (!departures.isEmpty && detached === undefined) return SENDING
  if (isRunning || isExpected || isNow(state)) return 0
  const moment = nextTime(state, opened)
  // A start may bring back the enzyme of a held signal.
  return inbox.held.size === 0 ? moment : Math.min(moment ?? Infinity, heldTime(state))
}

/**
 * Has the next flush store the wake time, and the jumps of the clock that make nothing older.
 */
export const keep = ({ clock, liveClock, store }: State, moment: number | undefined): void => {
  store.setDue(liveClock.wakeOf(moment))
  store.setJumps(SpaceClock.uncountedJumps(clock, store.head().clock))
}

/**
 * The time at which a space is opened to look whether its work is still held, in milliseconds since 1970: 0 for the next
 * start of the host.
 */
export const heldTime = ({ host, settings: { heldMillis } }: State): number =>
  // Beats of one period agree, and so store it once.
  heldMillis === undefined ? 0 : Math.ceil(host.now() / heldMillis + 1) * heldMillis
