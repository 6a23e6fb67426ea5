/**
 * The capture: the input that a beat takes from the inbox, and its limits.
 *
 * @module
 */
import type { Lane, Resolution } from "../../registry/Registry.ts"
import type { TakenSignal } from "../model/InFlight.ts"
import type { Limits } from "../model/Limits.ts"
import type { Queue } from "../../registry/Queue.ts"
import type * as SpaceMode from "../model/SpaceMode.ts"
import type { Again, PendingSignal, Signal } from "../model/Signal.ts"

/** The mode at the begin of a capture, and the resolution of signals. */
export interface CaptureStart {
  readonly mode: SpaceMode.SpaceMode
  readonly resolve: (signal: Signal) => Resolution
}

/** The mode of the space, and whether the durable run ends at once, for which it needs no enzyme. */
export interface ResumeRules {
  readonly mode: SpaceMode.SpaceMode
  readonly isEnd: boolean
}

/** The signals that the beat has taken so far. */
export interface Capture {
  readonly taken: Array<TakenSignal>
  /** Characters of the taken signals. */
  bytes: number
  /** The pairs of the beat. Equal impulses may share a pair; a `taken` pair admits no further signal. */
  readonly pairs: Map<string, "impulse" | "taken">
  /** The pairs and enzymes whose further attempts the beat took. */
  readonly attempts: Set<string>
  readonly beat: number
  readonly limits: Limits
  readonly resolve: (signal: Signal) => Resolution
}

/** Whether the beat has reached its limit of signals or characters. */
export const isFull = ({ bytes, limits, taken }: Capture): boolean => taken.length >= limits.captureSignals || bytes >= limits.captureBytes

/** Most items that a beat inspects in a queue. The limit keeps a beat from scanning a whole backlog. */
export const looks = ({ captureSignals }: Limits): number => 4 * captureSignals

/** Whether a queue has a live item. Removes cancelled items from its front. */
export const isAwaited = (queue: Queue<{ readonly gone: boolean }>): boolean => {
  while (queue.peek()?.gone === true) queue.shift()
  return queue.size > 0
}

/** The live items of a queue that one beat can take. They stay in the queue. */
export const firstOf = <A extends { readonly gone: boolean }>(queue: Queue<A>, limits: Limits): ReadonlyArray<A> =>
  isAwaited(queue) ? queue.first(limits.captureSignals).filter(({ gone }) => !gone) : []

/** The lane of an event, by the width that its enzymes declare. Each label has lanes of its own. */
export const laneOf = ({ label, pair, target = "" }: Signal, lane: Lane): string => {
  if (lane === "pair") return pair
  const wide = lane === "target" ? `target ${target}` : "space"
  return label === undefined ? wide : `${wide} ${label.join()}`
}

/** The attempt of a queued retry. */
export const attemptOf = ({ again, seq }: PendingSignal): Again => {
  if (again === undefined) throw new TypeError(`number ${seq} is no attempt`)
  return again
}
