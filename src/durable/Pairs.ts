/**
 * The signals that a durable run hears, as pairs of a signal and a target.
 *
 * A pair has a number in its run, by the order in which the run came to hear it. The number names the cells of the heard
 * signals, so the first step keeps the declared pairs.
 *
 * @module
 */
import { addressOf } from "../cell/Cell.ts"
import type { Enzyme, Event } from "../registry/Enzyme.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"

/** A signal at a target, and the number of waits for it. */
export type Pair = readonly [signal: string, target: string, waits: number]

/** The most pairs that an enzyme may declare for one event. */
export const MAX_DECLARED = 100

/**
 * A pair without waits.
 *
 * @throws TransactionRefused
 * @category constructors
 * @since 0.1.0
 */
export const make = (signal: string, target: string): Pair => {
  if (typeof signal !== "string" || !signal.startsWith("/")) {
    throw new TransactionRefused({ reason: `tx.waitForSignal needs a path such as /signals/confirm, and got ${JSON.stringify(signal)}` })
  }
  return [signal, addressOf(target).key, 0]
}

/**
 * The pairs that an enzyme declares for an event. A declared signal without a target is one at the target of the event.
 *
 * @throws TransactionRefused
 * @category getters
 * @since 0.1.0
 */
export const declared = ({ hears, name }: Pick<Enzyme, "hears" | "name">, event: () => Event): ReadonlyArray<Pair> => {
  if (typeof hears !== "function" && hears.length === 0) return none
  const known = event()
  const found = new Map<string, Pair>()
  for (const heard of typeof hears === "function" ? hears(known) : hears) {
    const [signal, target] = typeof heard === "string" ? [heard, known.target] : [heard.signal, heard.target]
    // A signal at the target of a broadcast has no cell to come to.
    if (target === undefined) continue
    const pair = make(signal, target)
    found.set(`${pair[0]} ${pair[1]}`, pair)
  }
  if (found.size <= MAX_DECLARED) return [...found.values()]
  throw new TransactionRefused({ reason: `${name} declares ${found.size} signals in hears, and the limit is ${MAX_DECLARED}` })
}

const none: ReadonlyArray<Pair> = []
