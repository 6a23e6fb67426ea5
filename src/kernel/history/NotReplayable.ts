/**
 * The error of a beat that cannot be replayed, as opposed to one with a different result.
 *
 * @module
 */
import * as Data from "effect/Data"
import { PersistenceError } from "../../persistence/PersistenceError.ts"

/**
 * The reason why a beat cannot be replayed.
 */
export class NotReplayable extends Data.TaggedError("NotReplayable")<{
  readonly beat: number
  readonly code:
    | "replay/code" | "replay/service" | "replay/pruned" | "replay/size" | "replay/journal" | "replay/content" | "replay/time"
    | "replay/semantics" | "journal/version"
  readonly reason: string
}> {
  override get message() {
    return `Beat ${this.beat} cannot be run again: ${this.reason}`
  }
}

/**
 * The reason for which a replay cannot go on, if an error is one: a beat that cannot be replayed, or an entry of another version.
 * Rethrows any other error.
 */
export const reasonOf = (error: unknown): Pick<NotReplayable, "beat" | "code" | "reason"> => {
  if (error instanceof NotReplayable) return { beat: error.beat, code: error.code, reason: error.reason }
  if (error instanceof PersistenceError && error.reason._tag === "JournalVersion") {
    const { beat, code, message } = error.reason
    return { beat, code, reason: message }
  }
  throw error
}
