/**
 * The next moment of a space: when it has something to do, if nothing comes from outside.
 *
 * An open space arms its one wake by it. Each flush stores it, so that a space
 * that is closed is opened at that moment and no earlier. (Architecture, sections 1.2 and 8.)
 *
 * @module
 */
import type { LiveBody } from "./Body.ts"
import * as Awaited from "./Awaited.ts"
import type { NextDue } from "../inbox/TimerQueue.ts"

/**
 * The wait that is due first; before the first beat, waits in beats count from when the space was opened.
 *
 * @category getters
 * @since 0.1.0
 */
export const wait = ({ inbox, settings, store }: LiveBody, opened: number): NextDue | undefined => {
  const { beat, clock } = store.head()
  return inbox.waits.next({ beat, clock: beat < 0 ? Math.max(clock, opened) : clock, tempo: settings.tempo })
}

/**
 * When the first wait is due or the first gate opens, in milliseconds since 1970.
 *
 * @category getters
 * @since 0.1.0
 */
export const timed = (body: LiveBody, opened: number): number | undefined => {
  const moment = Math.min(wait(body, opened)?.moment ?? Infinity, body.derivation.nextDue ?? Infinity)
  return moment === Infinity ? undefined : moment
}

/**
 * Whether a beat has something to do that waits for no moment. What only an enzyme takes that is not there is set aside for that.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isNow = ({ bindings, derivation, enzymes, host, inbox, ledgers, regime, settings, states, store }: LiveBody): boolean => {
  const { beat } = store.head()
  if (regime.control !== undefined || (beat < 0 && settings.boot)) return true
  if (enzymes.leavesOut) inbox.setAside((signal) => enzymes.resolve(signal.signal, signal.target, Awaited.tableFor(bindings, signal)), enzymes.version)
  const clock = host.now()
  if (inbox.held.isStale(enzymes.revision) || inbox.isRunnable({ beat: beat + 1, clock })) return true
  return derivation.isRunnable(clock) || ledgers.isWaiting(states, regime.gated)
}

/**
 * When the space next has something to do: 0 for now, `undefined` for never.
 *
 * @category getters
 * @since 0.1.0
 */
export const next = (body: LiveBody, opened: number): number | undefined => {
  // Whether what is held has its enzyme back is seen at a start.
  const isPressing = !body.departures.isEmpty || body.inbox.held.size > 0
  return isPressing || isNow(body) ? 0 : timed(body, opened)
}
