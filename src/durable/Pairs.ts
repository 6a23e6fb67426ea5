/**
 * The signals that a durable run hears, as pairs of a signal and a target.
 *
 * A pair has a number in its run, by the order in which the run came to hear it. The number names the cells of the heard
 * signals, so a step keeps the pairs that the enzyme declares, and its calls name the others.
 *
 * @module
 */
import { addressOf } from "../cell/Cell.ts"
import type { Enzyme, Event } from "../registry/Enzyme.ts"
import * as Semantics from "../stage/Semantics.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import type { AwaitedObject } from "./Handle.ts"
import { RunUnheard } from "./RunError.ts"

/** A signal at a target, and the number of waits for it. */
export type Pair = readonly [signal: string, target: string, waits: number]

/** The most pairs that an enzyme may declare for one event. */
export const MAX_DECLARED = 100

/** The most pairs of a run of which a row has all. */
export const MAX_LISTED = 16

/** The pairs of a run, as the row of its next segment has them. */
export interface ListedPairs {
  /** All pairs, or those alone that the newest segment changed. */
  readonly hears: ReadonlyArray<Pair>
  /** The numbers of the changed pairs, and of all pairs together, if the step log has the others. */
  readonly changed?: { readonly numbers: ReadonlyArray<number>; readonly of: number } | undefined
}

/**
 * The pairs of one run, by number.
 */
export class Pairs {
  private readonly list: Array<Pair> = []
  private numbers: Map<string, number> | undefined
  private readonly changed = new Set<number>()

  get size(): number {
    return this.list.length
  }

  /** The number of a pair; `undefined` if the run does not hear it. */
  numberOf([signal, target]: Pair): number | undefined {
    return this.numbers?.get(`${signal} ${target}`)
  }

  /** Has the run hear a pair. Returns its number. */
  hear(pair: Pair): number {
    const known = this.numberOf(pair)
    if (known !== undefined) return known
    const [signal, target] = pair
    const number = this.list.length
    this.list.push([signal, target, 0])
    this.changed.add(number)
    ;(this.numbers ??= new Map()).set(`${signal} ${target}`, number)
    return number
  }

  /** The number of waits for a pair. */
  waitsFor(number: number): number {
    return this.list[number]?.[2] ?? 0
  }

  /**
   * The next wait for a pair.
   *
   * @throws RunUnheard
   */
  awaited(pair: Pair, rules: Semantics.WithSemantics): Extract<AwaitedObject, { readonly kind: "signal" }> {
    const number = this.numberOf(pair)
    if (number !== undefined) return { kind: "signal", pair: number, nth: this.waitsFor(number) }
    if (Semantics.follows(rules, "hearsByName")) throw new RunUnheard({ signal: pair[0], target: pair[1] })
    return { kind: "signal", pair: this.size, nth: 0 }
  }

  /** Adds a wait for a pair. */
  wait(number: number): void {
    const [signal, target, waits] = this.list[number]!
    this.list[number] = [signal, target, waits + 1]
    this.changed.add(number)
  }

  /** Takes a wait for a pair back. */
  unwait(number: number): void {
    const [signal, target, waits] = this.list[number]!
    this.list[number] = [signal, target, waits - 1]
    this.changed.add(number)
  }

  /** The pairs from a number on. */
  from(number: number): ReadonlyArray<Pair> {
    return this.list.slice(number)
  }

  /** Begins a segment, which changes no pair yet. */
  begin(): void {
    this.changed.clear()
  }

  /** The pairs for a row: the changed ones alone if there are many, unless the row before is of another log. */
  listed(isWhole: boolean): ListedPairs {
    if (isWhole || this.list.length <= MAX_LISTED) return { hears: this.from(0) }
    const numbers = [...this.changed]
    return { hears: numbers.map((number) => this.list[number]!), changed: { numbers, of: this.list.length } }
  }
}

/**
 * A pair without waits. `verb` is the call that names it.
 *
 * @throws TransactionRefused
 */
export const make = (signal: string, target: string, verb: string): Pair => {
  if (typeof signal !== "string" || !signal.startsWith("/")) {
    throw new TransactionRefused({ reason: `${verb} needs a path such as /signals/confirm, and got ${JSON.stringify(signal)}` })
  }
  return [signal, addressOf(target).key, 0]
}

/**
 * The pairs that an enzyme declares for an event. A declared signal without a target is one at the target of the event.
 *
 * @throws TransactionRefused
 */
export const declared = ({ hears, name }: Pick<Enzyme, "hears" | "name">, event: () => Event): ReadonlyArray<Pair> => {
  if (typeof hears !== "function" && hears.length === 0) return none
  const known = event()
  const found = new Map<string, Pair>()
  for (const heard of typeof hears === "function" ? hears(known) : hears) {
    const [signal, target] = typeof heard === "string" ? [heard, known.target] : [heard.signal, heard.target]
    // A signal at the target of a broadcast has no cell as its place.
    if (target === undefined) continue
    const pair = make(signal, target, "hears")
    found.set(`${pair[0]} ${pair[1]}`, pair)
  }
  if (found.size <= MAX_DECLARED) return [...found.values()]
  throw new TransactionRefused({ reason: `${name} declares ${found.size} signals in hears, and the limit is ${MAX_DECLARED}` })
}

const none: ReadonlyArray<Pair> = []
