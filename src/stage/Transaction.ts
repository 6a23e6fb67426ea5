/**
 * The transaction: all reads, writes and launches of a run.
 *
 * Reads are synchronous. They see the state of the last beat, the capture of this beat, and the run's own writes, but
 * never another run's [S0 §Design Invariants]. Writes and launches take effect together when the beat commits, or not
 * at all.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Cell, Family, Place } from "../cell/Cell.ts"
import type { Sent, Signal } from "../cell/Signal.ts"
import type { Value } from "../cell/Value.ts"
import type { EventEnd } from "./EventEnd.ts"
import type { Delay, HeardSignal, PendingResult, Report, SignalRequest } from "./Launch.ts"
import type { Ledgers } from "./Ledgers.ts"
import type { Fields, TextValue, Heard, Item, TypedRequest, Under } from "./Typed.ts"

/** A node that a run may start, defined with `Computation.make`, `Reaction.make` or `Materializer.make`. */
export interface Startable {
  readonly _tag: "Computation" | "Effect" | "Materializer"
  readonly name: string
}

/**
 * The interface through which a run reads and writes its space.
 *
 * Addresses are texts such as `/data/orders/17` or `/data/orders/17#/status`, or `Cell` values. A cell of a type gives its type
 * to reads and takes it in writes: a value that does not fit is refused (`cell/type`).
 *
 * A refused call throws a tagged error with a stable `code`. A refused write aborts the run, even if the error is caught. One run
 * makes at most 100,000 writes and sends at most 10,000 signals.
 *
 * @example Counting
 * ```ts
 * import { Enzyme } from "systole"
 *
 * export default Enzyme.make({
 *   name: "count",
 *   query: "/signals/count",
 *   run: (tx) => {
 *     tx.increment("/data/counter")
 *     return tx.get("/data/counter")
 *   }
 * })
 * ```
 *
 * @example A reminder every ten minutes while an order is open
 * ```ts
 * import { Enzyme } from "systole"
 *
 * export default Enzyme.make({
 *   name: "remind",
 *   query: "/signals/remind",
 *   bind: ["/data/orders"],
 *   run: (tx, event) => {
 *     const status = tx.get(`${event.target}#/status`)
 *     if (status === "open") tx.signal({ signal: "/signals/remind", target: event.target, at: { ms: 600_000 } })
 *     return status
 *   }
 * })
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Transaction extends Ledgers {
  /** The number of this beat. */
  readonly beat: number
  /** The beat's captured clock, in milliseconds since 1970. A replay sees the same value. */
  readonly now: number
  /** Returns a random number from 0 up to, but not including, 1. A replay draws the same numbers. */
  random(): number
  /** Returns an id that is unique in this space. A replay mints the same ids. */
  id(): string
  /**
   * Returns the value at an address, or `undefined` if there is none. Follows links.
   *
   * @throws CellMistyped, if the upgrade of an older value does not fit the type of its cell
   */
  readonly get: {
    <A>(cell: Cell<A>): A | undefined
    (address: string): Value
  }
  /** Reads like `get`, but a change of the value does not run a node again. Use it for values that are only passed on. */
  readonly peek: {
    <A>(cell: Cell<A>): A | undefined
    (address: string): Value
  }
  /**
   * Returns the keys of the object, or the indexes of the array, at an address; `undefined` for other values. The items
   * are not read.
   */
  readonly keys: (address: Place) => ReadonlyArray<string> | undefined
  /**
   * Returns the names of the documents directly below a cell, in code-unit order. For a family they are the values of its last
   * `:name`; `under` gives the ones before it.
   */
  readonly list: {
    <A, Names, Outer>(family: Family<A, Names, Outer>, ...under: Under<NoInfer<Outer>>): ReadonlyArray<string>
    (id: string): ReadonlyArray<string>
  }
  /**
   * Returns the cells of a family that have a value: the names of each, and its value, in code-unit order. `under` gives the names
   * before the last.
   *
   * @example The sum of all orders
   * ```ts
   * import * as Schema from "effect/Schema"
   * import { Cell, Computation } from "systole"
   *
   * const Orders = Cell.family("/data/orders/:id", Schema.Struct({ cents: Schema.Natural }))
   *
   * export default Computation.make({
   *   name: "takings",
   *   output: Cell.of("/data/takings", Schema.Natural),
   *   run: (tx) => tx.entries(Orders).reduce((sum, [, { cents }]) => sum + cents, 0)
   * })
   * ```
   */
  readonly entries: <A, Names, Outer>(
    family: Family<A, Names, Outer>,
    ...under: Under<NoInfer<Outer>>
  ) => ReadonlyArray<readonly [names: Names, value: A]>
  /**
   * Writes a value; `undefined` deletes. The value's objects and arrays are frozen.
   *
   * @throws CellMistyped, InvalidValue
   */
  readonly set: {
    <A>(cell: Cell<A>, value: NoInfer<A> | undefined): void
    <V>(address: string, value: TextValue<V>): void
  }
  /**
   * Writes the given fields of an object and keeps the others. Of a cell with a type, these fields alone are checked.
   *
   * @throws CellMistyped, InvalidValue
   */
  readonly merge: {
    <A>(cell: Cell<A>, fields: Fields<NoInfer<A>>): void
    (address: string, fields: { readonly [key: string]: unknown }): void
  }
  /** Appends items to an array. Runs of one beat append in agenda order, without a conflict. */
  readonly append: {
    <A>(cell: Cell<A>, ...items: ReadonlyArray<Item<NoInfer<A>>>): void
    (address: string, ...items: ReadonlyArray<unknown>): void
  }
  /**
   * Adds `by` (default 1) to a number, from 0 if there is none. Increments of several runs never conflict. The sum that this run
   * sees has to fit the type of the cell.
   */
  readonly increment: {
    (cell: Cell<number | undefined>, by?: number): void
    (address: string, by?: number): void
  }
  /** Deletes the value at an address, of any type; the same as writing `undefined`. */
  readonly delete: (address: Place) => void
  /** Stores content under its digest, at most 32 MiB per run. Returns its address, `/cas/<sha256>`, which `get` reads as bytes. */
  readonly blob: (bytes: Uint8Array) => string
  /**
   * Sends a signal for the next beat or a later one. Returns its id. A signal of a type takes its names and its payload in the
   * request.
   *
   * @throws InvalidSignal, InvalidAddress, InvalidValue
   */
  readonly signal: {
    <A, Names>(signal: Signal<A, Names>, request: TypedRequest<NoInfer<A>, NoInfer<Names>>): string
    (request: SignalRequest): string
  }
  /** Binds an enzyme's name to a cell, and to all its descendants unless `propagate` is false. */
  readonly bind: (cell: Place, enzyme: string, options?: { readonly propagate?: boolean }) => void
  /** Withdraws a name at a cell, and masks the bindings inherited from ancestors. */
  readonly unbind: (cell: Place, enzyme: string) => void
  /**
   * Starts a piece: a node of the named module, with a value for each of its inputs. Returns the piece's name. Two
   * equal starts are one piece.
   *
   * A piece started by a handler exists from the commit of its transaction and runs until it is stopped. A node may
   * also start a node without a module. Such a child lives until a later run of its parent does not start it; a failed
   * run ends no child.
   *
   * When a space opens, nodes with children run first, to restore the children. A parent that fails then has no
   * children until it succeeds. Define a child's function outside the run: a new function per run makes the child run
   * again each time.
   */
  readonly start: (node: Startable | string, inputs?: { readonly [name: string]: unknown }) => string
  /** Stops the piece with this name, if there is one. Its derived cells remain. */
  readonly stop: (piece: string) => void
  /** Reports a failure: a diagnostic under `/data/mailbox/diag/msgs`, in the log and in the counters, once the beat is durable. */
  readonly report: (report: Report) => void
  /**
   * Waits, in a durable run, for a number of milliseconds or of beats. Effect's own `sleep`, time-outs and schedules do
   * the same there. In any other run it is refused (`transaction/refused`).
   */
  readonly sleep: (delay: Delay) => PendingResult<void>
  /**
   * Has a durable run hear a signal to a cell from now on, unless it does already. In any other run it is refused
   * (`transaction/refused`).
   *
   * It is for a target that only the run knows; a known one belongs in `hears` of the enzyme. Call it before the call that
   * provokes the answer, because a signal that came earlier is lost. The run hears each such signal once, in order. At most 100
   * signals wait for the run; further ones pass it by. The receipt of a signal that the run heard names the run's operation.
   *
   * @example Asking for an answer at a cell of its own
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default Enzyme.make({
   *   name: "ask",
   *   query: "/signals/ask",
   *   durable: true,
   *   run: async (tx) => {
   *     const question = `/data/questions/${tx.id()}`
   *     tx.hear("/signals/answered", question)
   *     tx.set(question, "open")
   *     await tx.sleep(1000)
   *     return (await tx.waitForSignal("/signals/answered", question)).payload
   *   }
   * })
   * ```
   */
  readonly hear: (signal: Sent, target: Place) => void
  /**
   * Waits, in a durable run, for the next signal to a cell. In any other run it is refused (`transaction/refused`).
   *
   * The run has to hear the signal: its enzyme declares it in `hears`, or the run named it with `tx.hear`. Otherwise the first
   * call fails with `run/unheard`.
   *
   * @example Waiting for a person
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default Enzyme.make({
   *   name: "approve",
   *   query: "/signals/order/placed",
   *   durable: true,
   *   hears: ["/signals/order/approved"],
   *   run: async (tx, event) => {
   *     const answer = await tx.waitForSignal("/signals/order/approved", event.target ?? "/data/orders")
   *     return answer.payload
   *   }
   * })
   * ```
   */
  readonly waitForSignal: {
    <A>(signal: Signal<A, object>, target: Place): PendingResult<Heard<A>>
    (signal: string, target: Place): PendingResult<HeardSignal>
  }
  /**
   * Waits, in a durable run, for the end of an event that it sends. In any other run it is refused (`transaction/refused`).
   *
   * Call it with the id from `tx.signal`, before the next await: the wait begins with the signal, so no end is missed. The
   * promise may be awaited later. A signal to another space is refused, because its receipt stays there (`run/event-unsent`). A
   * signal without a payload becomes an event by it.
   *
   * A failed event is a result with `status: "dead"`, and no error. An event that waits for its lane, its time or its enzyme has
   * not ended: race it with `tx.sleep`.
   *
   * @example Sending an order to another enzyme, and waiting for it
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default Enzyme.make({
   *   name: "ship",
   *   query: "/signals/ship",
   *   durable: true,
   *   run: async (tx, event) => {
   *     const packed = tx.waitForEvent(tx.signal({ signal: "/signals/pack", payload: event.payload }))
   *     const { code, status } = await packed
   *     return status === "handled" ? "packed" : code ?? status
   *   }
   * })
   * ```
   */
  readonly waitForEvent: (id: string) => PendingResult<EventEnd>
}

/**
 * The transaction of the run in progress, as a service of each Effect that a run returns: a helper needs no argument for it.
 *
 * @example A helper that counts
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Enzyme, Event, Transaction } from "systole"
 *
 * const counted = Effect.gen(function*() {
 *   const tx = yield* Transaction
 *   const { signal } = yield* Event
 *   tx.increment("/data/count")
 *   return signal
 * })
 *
 * export default Enzyme.make({ name: "count", query: "/signals/count", run: () => counted })
 * ```
 *
 * @category services
 * @since 0.2.0
 */
export const Transaction: Context.Service<Transaction, Transaction> = Context.Service<Transaction>("systole/Transaction")
