/**
 * What a beat takes from the inbox, while it takes it.
 *
 * @module
 */
import type { Lane, Resolution } from "../../registry/Registry.ts"
import type { Taken } from "../model/Flight.ts"
import type { Limits } from "../model/Limits.ts"
import type { Queue } from "./Queue.ts"
import type { Signal } from "../model/Signal.ts"

/** The signals of one beat so far. */
export interface Capture {
  readonly taken: Array<Taken>
  /** Characters of what it took. */
  bytes: number
  /** The pairs of the beat: those of impulses may be shared by more impulses, all others are taken. */
  readonly pairs: Map<string, "impulse" | "taken">
  /** The enzymes that are tried again, each with its pair. */
  readonly attempts: Set<string>
  readonly beat: number
  readonly limits: Limits
  readonly resolve: (signal: Signal) => Resolution
}

/** Whether the beat takes no more. */
export const isFull = ({ bytes, limits, taken }: Capture): boolean => taken.length >= limits.captureSignals || bytes >= limits.captureBytes

/** Each look moves one signal on; the limit keeps a beat from looking at a whole backlog. */
export const looks = ({ captureSignals }: Limits): number => 4 * captureSignals

/** Whether a beat has to take one of a queue; those that are gone leave its front. */
export const isAwaited = (queue: Queue<{ readonly gone: boolean }>): boolean => {
  while (queue.peek()?.gone === true) queue.shift()
  return queue.size > 0
}

/** As many of a queue as one beat takes; they stay there. */
export const firstOf = <A extends { readonly gone: boolean }>(queue: Queue<A>, limits: Limits): ReadonlyArray<A> =>
  isAwaited(queue) ? queue.first(limits.captureSignals).filter(({ gone }) => !gone) : []

/** The lane of an event, by the width that its enzymes ask for; apart for each label. */
export const laneOf = ({ label, pair, target = "" }: Signal, lane: Lane): string => {
  if (lane === "pair") return pair
  const wide = lane === "target" ? `target ${target}` : "space"
  return label === undefined ? wide : `${wide} ${label.join()}`
}
