/**
 * The error of a beat that cannot be replayed, as opposed to one with a different result.
 *
 * @module
 */
import * as Data from "effect/Data"

/**
 * The reason why a beat cannot be replayed.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReplayable extends Data.TaggedError("NotReplayable")<{
  readonly beat: number
  readonly code: "replay/code" | "replay/pruned" | "replay/size" | "replay/journal" | "replay/content" | "replay/time" | "replay/semantics"
  readonly reason: string
}> {
  override get message() {
    return `Beat ${this.beat} cannot be run again: ${this.reason}`
  }
}
