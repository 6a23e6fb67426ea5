/**
 * The mark of a store that is in use: a text in the note of its file.
 *
 * SQLite removes the log of a database when its last connection closes. So a log that is missing though the mark is set was
 * removed, and with it the newest commits. A mark that is not written, or cleared too early, misses that and harms no store.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs"

const OPEN = "open"

/** Writes a text into the note, if it exists. */
const write = (note: string, text: string): void => {
  try {
    writeFileSync(note, text, { flag: "r+" })
  } catch {
    // Without the mark a log that was removed is not noticed.
  }
}

/** Marks a store, once a commit is in its log. */
export const set = (note: string): void => write(note, OPEN)

/** Clears the mark, before a connection that may be the last one closes. */
export const clear = (note: string): void => {
  if (isSet(note)) write(note, " ".repeat(OPEN.length))
}

/** Tests whether a store was not closed since its last commit. */
export const isSet = (note: string): boolean => {
  try {
    return readFileSync(note, "utf8") === OPEN
  } catch {
    return false
  }
}
