/**
 * What cannot be run again, which is something else than what comes out otherwise.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * Why a beat cannot be run again.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReplayable extends Schema.TaggedError<NotReplayable>()("NotReplayable", {
  beat: Schema.Int,
  code: Schema.Literals(["replay/code", "replay/pruned", "replay/size", "replay/journal", "replay/content", "replay/time"]),
  reason: Schema.String
}) {
  override get message() {
    return `Beat ${this.beat} cannot be run again: ${this.reason}`
  }
}
