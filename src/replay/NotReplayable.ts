/**
 * The error of a beat that cannot be replayed, as opposed to one with a different result.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * The reason why a beat cannot be replayed.
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
