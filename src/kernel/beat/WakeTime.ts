/**
 * The time at which a space next has work without further input.
 *
 * An open space arms its wake timer with it. Each flush stores it, so a closed
 * space is opened at that time and no earlier.
 *
 * @module
 */
import type { LiveState } from "./SpaceState.ts"
import * as Awaited from "./Awaited.ts"
import { isAdvancing } from "../model/SpaceMode.ts"
import type { NextDue } from "../inbox/TimerQueue.ts"

/**
 * The timer that is due first. Before the first beat, waits in beats count from the time the space was opened.
 *
 * @category getters
 * @since 0.1.0
 */
export const wait = ({ inbox, mode: { control }, settings, store }: LiveState, opened: number): NextDue | undefined => {
  const { beat, clock } = store.head()
  const next = inbox.waits.next({ beat, clock: beat < 0 ? Math.max(clock, opened) : clock, tempo: settings.tempo })
  const until = control?.until
  return until === undefined || (next !== undefined && next.moment <= until.moment) ? next : until
}

/**
 * The time at which the first timer is due or the first gate of a node opens, in milliseconds since 1970.
 *
 * @category getters
 * @since 0.1.0
 */
export const timed = (state: LiveState, opened: number): number | undefined => {
  const moment = Math.min(wait(state, opened)?.moment ?? Infinity, state.derivation.nextDue ?? Infinity)
  return moment === Infinity ? undefined : moment
}

/** Whether signals or the input of ledgers wait for a beat. */
export const hasInput = ({ host, inbox, ledgers, mode, states, store }: LiveState): boolean =>
  inbox.isRunnable({ beat: store.head().beat + 1, clock: host.now() }) || ledgers.isWaiting(states, mode.gated)

/**
 * Whether a beat has work now. Signals whose only enzyme is left out are set aside first.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isNow = (state: LiveState): boolean => {
  const { bindings, derivation, enzymes, host, inbox, ledgers, mode, settings, states, store } = state
  const { beat } = store.head()
  if (isAdvancing(mode) || (beat < 0 && settings.boot)) return true
  if (enzymes.leavesOut) {
    inbox.setAside((signal) => enzymes.resolve(signal.signal, signal.target, Awaited.tableFor(bindings, signal)), enzymes.version)
  }
  const clock = host.now()
  if (inbox.held.isStale(enzymes.revision) || inbox.isRunnable({ beat: beat + 1, clock })) return true
  return derivation.isRunnable(clock) || ledgers.isWaiting(states, mode.gated)
}

/**
 * The time of the space's next work, in milliseconds since 1970: 0 for now, `undefined` for never.
 *
 * @category getters
 * @since 0.1.0
 */
export const next = (state: LiveState, opened: number): number | undefined => {
  const { departures, inbox, ledgers, states } = state
  // A start may bring back the enzyme of a held signal, and it repeats what a ledger had in progress.
  const isPressing = !departures.isEmpty || inbox.held.size > 0 || !ledgers.isResting(states) || ledgers.isExpected(states)
  return isPressing || isNow(state) ? 0 : timed(state, opened)
}
