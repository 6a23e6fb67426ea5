/**
 * Versions of control files that are parsed already.
 *
 * @module
 */
import type { Action, Defaults } from "../document/Action.ts"
import * as ControlFiles from "../document/ControlFile.ts"
import type { ControlFile } from "../document/ControlFile.ts"
import { isSame } from "../text/Bytes.ts"

/**
 * A version of a control file. Equal bytes with equal defaults have equal contents, so a version is never changed.
 */
export interface Version {
  readonly bytes: Uint8Array
  readonly file: ControlFile
  readonly byId: ReadonlyMap<string, Action>
  /** The defaults by which it was parsed, as a text. */
  readonly defaults: string
}

/** The most versions that are kept: those of one wake. */
const MAX = 4

/** The defaults as a text that tells whether others are equal. */
export const keyOf = ({ types, ...rest }: Defaults): string =>
  JSON.stringify([Object.entries(rest).sort(), types === undefined ? null : [...types].sort()])

/**
 * The latest versions that were parsed, at most four. A parse costs far more than a comparison of bytes.
 */
export class Versions {
  private kept: ReadonlyArray<Version> = []

  /** The version of bytes; `undefined` if they are no text, or too many. */
  of(bytes: Uint8Array, defaults: Defaults): Version | undefined {
    const key = keyOf(defaults)
    const version = this.kept.find((each) => each.defaults === key && isSame(each.bytes, bytes)) ?? parsed(bytes, defaults)
    if (version !== undefined) this.kept = [version, ...this.kept.filter((each) => each !== version)].slice(0, MAX)
    return version
  }
}

const parsed = (bytes: Uint8Array, defaults: Defaults): Version | undefined => {
  const text = ControlFiles.decode(bytes)
  if (typeof text !== "string") return undefined
  const file = ControlFiles.parse(text, defaults)
  return { bytes, file, byId: new Map(file.actions.map((action) => [action.id, action])), defaults: keyOf(defaults) }
}
