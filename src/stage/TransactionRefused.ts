/**
 * What a transaction refuses whatever is written.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * A run is over, and its transaction was used all the same; or it asked for what it may not see.
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
