/**
 * The log of a database: the commits that its file lacks.
 *
 * @module
 */
import type { Buffer } from "node:buffer"
import { existsSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

/** The place of the number of pages in the header of a database. */
const PAGES = 28

/** The time to wait for another process to release the file, in milliseconds. */
const BUSY = 250

/** The fault of the log of a store that was not closed; `undefined` if none is known. A store of one page has all its data in it. */
export const faultOf = (place: string, header: Buffer): string | undefined => {
  const log = `${place}-wal`
  if (!existsSync(log)) return `its log ${log} is missing`
  return header.readUInt32BE(PAGES) > 1 || hasTables(place) ? undefined : `its log ${log} has no valid commit`
}

/** Tests whether a database has tables. A connection that only reads leaves a damaged log as it is. */
const hasTables = (place: string): boolean => {
  const database = new DatabaseSync(place, { timeout: BUSY, readOnly: true })
  try {
    return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined
  } finally {
    database.close()
  }
}
