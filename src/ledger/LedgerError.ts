/**
 * The refusals common to all ledgers.
 *
 * @module
 */
import * as Data from "effect/Data"

/** A refusal: a tagged error with a stable code. */
export type Refusal = Error & { readonly _tag: string; readonly code: string }

/** The class of a refusal, which distinguishes it from an unexpected failure. */
export type RefusalClass = abstract new(...args: never) => Refusal

/** The refusals of the ledgers by the names of the ledgers. The folder of a ledger adds its own, by declaration merging. */
export interface Refusals {}

/** A cell is locked, so writes to it are refused. */
export class CellLocked extends Data.TaggedError("CellLocked")<{ readonly address: string; readonly lock: string }> {
  readonly code = "cell/locked"
  override get message() {
    return `${this.address} cannot be written while ${this.lock} is locked. Write it when the space is resumed, or the cell unlocked`
  }
}
