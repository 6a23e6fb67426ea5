/**
 * The times of a store's files.
 *
 * @module
 */
import { statSync } from "node:fs"

/** The most by which the time of a file may be later than the clock of the host, in milliseconds. */
const SKEW = 5000

/** Tests whether a store was last written at a time that is still to come: the clock of the host was set back. */
export const isFromLater = (place: string): boolean => {
  const modified = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return Math.max(modified(place), modified(`${place}-wal`)) > Date.now() + SKEW
}
