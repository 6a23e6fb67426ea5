/**
 * Node transactions: a node reads, writes within its surface, and launches no work.
 *
 * @module
 */
import type { Place } from "../../cell/Cell.ts"
import type { Draft } from "../../stage/Draft.ts"
import { Calls } from "../../stage/Calls.ts"
import { barOf, type Ledgers } from "../../stage/Ledgers.ts"
import { TransactionRefused } from "../../stage/TransactionRefused.ts"
import type { Startable, Transaction } from "../../stage/Transaction.ts"

/**
 * The operations of a node's transaction that are the same in live and in recorded runs.
 */
export abstract class NodeTransaction extends Calls implements Transaction {
  abstract readonly beat: number
  abstract readonly now: number
  abstract start(definition: Startable | string, inputs?: { readonly [name: string]: unknown }): string
  /** The draft of the run's writes. */
  protected abstract writing(): Draft
  /** Records a refusal, so that no `catch` hides it. */
  protected abstract refuse(error: unknown): unknown

  set(place: Place, value: unknown): void {
    this.writing().set(place, value)
  }

  merge(place: Place, fields: { readonly [key: string]: unknown }): void {
    this.writing().merge(place, fields)
  }

  append(place: Place, ...items: ReadonlyArray<unknown>): void {
    this.writing().append(place, ...items)
  }

  increment(place: Place, by?: number): void {
    this.writing().increment(place, by)
  }

  delete(place: Place): void {
    this.writing().delete(place)
  }

  blob(): string {
    throw this.forbidden("keeps no content")
  }

  random(): number {
    throw this.forbidden("draws no chance")
  }

  id(): string {
    throw this.forbidden("mints no ids")
  }

  send(): string {
    throw this.forbidden("sends no signals")
  }

  stop(): void {
    throw this.forbidden("stops what it started by not starting it again, and stops nothing else")
  }

  bind(): void {
    throw this.forbidden("binds no enzymes")
  }

  unbind(): void {
    throw this.forbidden("unbinds no enzymes")
  }

  report(): void {
    throw this.forbidden("reports nothing")
  }

  get sleep(): never {
    throw this.forbidden("does not sleep")
  }

  get hear(): never {
    throw this.forbidden("hears no signals")
  }

  get waitForSignal(): never {
    throw this.forbidden("waits for no signals")
  }

  get waitForEvent(): never {
    throw this.forbidden("waits for no events")
  }

  ledger(name: keyof Ledgers): never {
    throw this.forbidden(barOf(name))
  }

  /** Refuses an operation that must not repeat with each run. */
  private forbidden(what: string): unknown {
    return this.refuse(new TransactionRefused({ reason: `a node ${what}, because it may run any number of times; have a handler do it` }))
  }
}
