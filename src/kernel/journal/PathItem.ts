/**
 * Paths in journal lines, each of which may be absent.
 *
 * @module
 */

/** A path, or another text; 0 for an absent one. */
export type Path = string | 0

/** The paths of a signal. */
export interface Paths {
  readonly signal: string | undefined
  readonly target: string | undefined
}

/** A path as JSON text. It is quoted without escaping: none of its characters needs it. */
export const pathOf = (path: string | undefined): string => path === undefined ? "0" : `"${path}"`

/** The path of an item. */
export const presentOf = (item: Path): string | undefined => item === 0 ? undefined : item

export const pathsOf = (signal: Path, target: Path): Paths => ({ signal: presentOf(signal), target: presentOf(target) })
