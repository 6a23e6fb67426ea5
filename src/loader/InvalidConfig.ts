/**
 * The refusal of a configuration.
 *
 * @module
 */

/** The file name of a project's configuration. */
export const FILE = "systole.config.ts"

/**
 * The configuration is invalid. `reason` names the first problem.
 */
export class InvalidConfig extends Error {
  readonly _tag = "InvalidConfig"
  override readonly name = "InvalidConfig"
  readonly code = "config/invalid"
  readonly reason: string
  /** Whether a value is not there that the configuration needs. An environment variable may supply it. */
  readonly isUnset: boolean

  constructor({ isUnset = false, reason }: { readonly reason: string; readonly isUnset?: boolean }) {
    super(`The configuration is refused: ${reason}${reason.endsWith("?") ? "" : "."} See to ${FILE}`)
    this.reason = reason
    this.isUnset = isUnset
  }
}
