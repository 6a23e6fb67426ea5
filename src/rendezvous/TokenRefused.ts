/**
 * The refusal of a token, apart from the other refusals: each Worker answers with it, and not each has rendezvous.
 *
 * @module
 */
import * as Data from "effect/Data"

/** A worker's token does not match the rendezvous. */
export class TokenRefused extends Data.TaggedError("TokenRefused")<{ readonly key: string }> {
  readonly code = "rv/token"
  override get message() {
    return `The token is not good for rendezvous "${this.key.slice(0, 200)}". Report with the one that its spawn returned, which is ` +
      "good for that key alone, and until it is spawned or claimed again"
  }
}
