/**
 * The refusal of a configuration.
 *
 * @module
 */

/** The file name of a project's configuration. */
export const FILE = "systole.config.ts"

/**
 * The configuration is invalid. `reason` names the first problem, and `place` where the configuration stands: a file, or the value that
 * a program gives.
 */
export class InvalidConfig extends Error {
  readonly _tag = "InvalidConfig"
  override readonly name = "InvalidConfig"
  readonly code = "config/invalid"
  readonly reason: string
  /** Whether a value is not there that the configuration needs. An environment variable may supply it. */
  readonly isUnset: boolean
  readonly place: string

  constructor({ isUnset = false, place = FILE, reason }: { readonly reason: string; readonly isUnset?: boolean; readonly place?: string }) {
    super(`The configuration is refused: ${reason}${reason.endsWith("?") ? "" : "."} See to ${place}`)
    this.reason = reason
    this.isUnset = isUnset
    this.place = place
  }

  /** The same refusal of a configuration in another place. */
  at(place: string): InvalidConfig {
    return new InvalidConfig({ reason: this.reason, isUnset: this.isUnset, place })
  }
}

/** The failure of a program whose configuration is in another place than the file of a project. */
export const withPlace = (failure: unknown, place: string): unknown => failure instanceof InvalidConfig ? failure.at(place) : failure
