/**
 * The refusal of a call for a reason other than the written value.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * A transaction was used after its run ended, or a run exceeded a limit or accessed data that is hidden from it.
 *
 * @category errors
 * @since 0.1.0
 */
export class TransactionRefused extends Schema.TaggedError<TransactionRefused>()("TransactionRefused", { reason: Schema.String }) {
  readonly code = "transaction/refused"
  override get message() {
    return `The transaction refused: ${this.reason}`
  }
}
