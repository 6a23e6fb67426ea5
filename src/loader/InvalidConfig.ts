/**
 * The refusal of a configuration.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The file name of a project's configuration. */
export const FILE = "systole.config.ts"

/**
 * The configuration is invalid. `reason` names the first problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{ readonly reason: string }> {
  readonly code = "config/invalid"
  override get message() {
    return `The configuration is refused: ${this.reason}. See to ${FILE}`
  }
}
