/**
 * The refusal of a call for a reason other than the written value.
 *
 * @module
 */
import * as Data from "effect/Data"

/**
 * A transaction was used after its run ended, or a run exceeded a limit or accessed data that is hidden from it.
 */
export class TransactionRefused extends Data.TaggedError("TransactionRefused")<{ readonly reason: string }> {
  readonly code = "transaction/refused"
  override get message() {
    return `The transaction refused: ${this.reason}`
  }
}
