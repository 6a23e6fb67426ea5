/**
 * The file of a new store: it has its name once it has its header, and loses it where no store came to be.
 *
 * @module
 */
import { randomUUID } from "node:crypto"
import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isLinkless } from "../file/Linkless.ts"

/** The folder with a note of each created file, which distinguishes a lost file from one that never existed. */
export const MADE = ".made"
/** The lock beside the notes: no space can have this name. */
const LOCK = ".lock"

/** The name of a space, and the path of its file. */
interface Place {
  readonly space: string
  readonly place: string
}

/** The number that marks a file, and the time to wait for another process, in milliseconds. */
interface Choice {
  readonly application: number
  readonly timeout: number
}

/** Creates the file. It has its header before it gets its name, so a process that ends early leaves no empty file. */
export const make = (at: Place, { application, timeout }: Choice): void => {
  const folder = dirname(at.place)
  mkdirSync(join(folder, MADE), { recursive: true, mode: 0o700 })
  const draft = join(folder, MADE, `${at.space}.${randomUUID()}`)
  const database = new DatabaseSync(draft)
  try {
    // Set before WAL mode, so that the mark is in the file itself and not in its log.
    database.exec(`PRAGMA application_id = ${application}`)
  } finally {
    database.close()
  }
  try {
    linkSync(draft, at.place)
  } catch (cause) {
    const { code = "" } = cause as { readonly code?: string }
    if (isLinkless(cause)) nameUnderLock(draft, at.place, timeout)
    // Another process created it meanwhile.
    else if (code !== "EEXIST") throw cause
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Gives a file its name, unless the name is taken. The lock of SQLite ends with its process, and admits one process at a time. */
const nameUnderLock = (draft: string, place: string, timeout: number): void => {
  const lock = new DatabaseSync(join(dirname(draft), LOCK), { timeout })
  try {
    lock.exec("BEGIN EXCLUSIVE")
    if (!existsSync(place)) renameSync(draft, place)
  } finally {
    lock.close()
  }
}

/**
 * Closes a database, and removes its files if it has no table, as a full disk leaves it where a store should have been. No other process
 * may make its tables meanwhile.
 */
export const closeEmpty = (database: DatabaseSync, files: ReadonlyArray<string>): void => {
  try {
    database.exec("BEGIN EXCLUSIVE")
    if (database.prepare("SELECT name FROM sqlite_schema").get() !== undefined) return database.close()
    for (const file of files) rmSync(file, { force: true })
  } catch {
    // It stays as an empty file, which a later store of that name takes.
  }
  database.close()
}
