/**
 * The transaction: all that a run can see and do.
 *
 * Reads are synchronous and see the state that the last beat left, what this
 * beat captured, and the run's own writes; never another run's. Writes and
 * launches take effect together when the beat commits, or not at all.
 * (Architecture, section 3; seed 000, "No visibility leaks".)
 *
 * @module
 */
import type { Cell } from "../cell/Cell.ts"
import type { Value } from "../cell/Value.ts"
import type { Flows, Io, Operations, Rendezvous, Report, SignalRequest } from "./Launch.ts"

/** What a run may start: a node, defined with `Computation.make`, `Effect.make` or `Materializer.make`. */
export interface Startable {
  readonly _tag: "Computation" | "Effect" | "Materializer"
  readonly name: string
}

/**
 * What a run is given to read and write its space.
 *
 * Addresses are texts such as `/data/orders/17` or `/data/orders/17#/status`, or
 * cells made of them once.
 * Each method throws a tagged error with a stable code when it is asked for what
 * it must refuse; a refused write aborts the run, even when the error is caught.
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
 * @category models
 * @since 0.1.0
 */
export interface Transaction {
  /** The number of this beat. */
  readonly beat: number
  /** The beat's captured clock, in milliseconds since 1970. The same in every replay. */
  readonly now: number
  /** The beat's chance: a number from 0 up to 1. The same in every replay. */
  random(): number
  /** An id that no other call in this space returns. The same in every replay. */
  id(): string
  /** The value at an address; `undefined` where there is none. Follows links. */
  readonly get: (address: string | Cell) => Value
  /** The same, and a node does not run again because it changes. For what is only passed on, or only matters when something else calls for a run. */
  readonly peek: (address: string | Cell) => Value
  /** The keys of the object at an address, or the indexes of the array; `undefined` where there is neither. What they hold is not looked at. */
  readonly keys: (address: string | Cell) => ReadonlyArray<string> | undefined
  /** The names of the documents directly below a cell, in code-unit order. */
  readonly list: (id: string) => ReadonlyArray<string>
  /** Writes a value; `undefined` deletes. The value's objects and arrays are frozen. */
  readonly set: (address: string | Cell, value: unknown) => void
  /** Writes each of the fields given, and leaves the others. */
  readonly merge: (address: string | Cell, fields: { readonly [key: string]: unknown }) => void
  /** Adds items at the end of an array; in agenda order when several runs do. */
  readonly append: (address: string | Cell, ...items: ReadonlyArray<unknown>) => void
  /** Adds to a number, from 0 where there is none. Runs that increment never conflict. */
  readonly increment: (address: string | Cell, by?: number) => void
  readonly delete: (address: string | Cell) => void
  /** Keeps content by its digest and returns its address, `/cas/<sha256>`, where `get` finds the bytes. */
  readonly blob: (bytes: Uint8Array) => string
  /** Sends a signal for the next beat, or for a later one. Returns its id. */
  readonly signal: (request: SignalRequest) => string
  /** Binds an enzyme's name to a cell, and to all below it unless `propagate` is false. */
  readonly bind: (cell: string, enzyme: string, options?: { readonly propagate?: boolean }) => void
  /** Withdraws a name here, and hides what the cells above bind. */
  readonly unbind: (cell: string, enzyme: string) => void
  /**
   * Starts a piece of a node module, by the module's name, with a value for each of its inputs. Returns the piece's name; the same start twice
   * is one piece. What a handler starts comes to be with its transaction, and runs from the end of its beat on until it is stopped. What a node
   * starts, which may be a node without a module, too, lives until a later run of the same node does not start it; a run that fails ends nothing.
   * When a space opens again, each node that started others runs first, so that those are there; they are not while that fails.
   * Each start with another function, as one within the run is, makes such a node run again: define it outside of the run where nothing is new to it.
   */
  readonly start: (node: Startable | string, inputs?: { readonly [name: string]: unknown }) => string
  /** Stops a piece, by the name that its start returned. What it derived stays. Nothing happens where there is none of this name. */
  readonly stop: (piece: string) => void
  /** Tells that something went wrong: a fact under `/data/mailbox/diag/msgs`, in the log and in the counts, once the beat is durable. */
  readonly report: (report: Report) => void
  readonly op: Operations
  readonly rv: Rendezvous
  readonly flow: Flows
  readonly io: Io
}
