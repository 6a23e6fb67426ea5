/**
 * The files of the watchdog, which record the runs in progress when a process ended.
 *
 *     <data>/watch/<space>.json   the marks of a space, if it has any
 *     <data>/watch/begun.log      a line for each space that ran a beat in this process: its head and its name
 *
 * A clean end removes the log. One line is appended per opening of a space, without `fsync`: the file outlives the
 * process anyway, and only the end of the process matters here.
 *
 * @module
 */
import {
  appendFileSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"
import type { Mark } from "../../kernel/watchdog/RunBoard.ts"
import type { WatchdogRecord } from "../../kernel/watchdog/WatchdogHost.ts"

const LOG = "begun.log"
const EXTENSION = ".json"

/** The watchdog's folder in a data folder. */
export const folderOf = (data: string): string => join(data, "watch")

/**
 * The records of the previous process, by space.
 */
export const takeRecords = (folder: string): Map<string, WatchdogRecord> => {
  const found = new Map<string, WatchdogRecord>()
  for (const file of attempt(() => readdirSync(folder), [])) {
    if (file.endsWith(EXTENSION)) {
      found.set(file.slice(0, -EXTENSION.length), { marks: read(folder, file.slice(0, -EXTENSION.length)), began: undefined })
    }
  }
  for (const line of attempt(() => readFileSync(join(folder, LOG), "utf8"), "").split("\n")) {
    const [head, space] = line.split(" ")
    if (space !== undefined) found.set(space, { marks: found.get(space)?.marks ?? [], began: Number(head) })
  }
  return found
}

/**
 * Removes the log of the previous process.
 */
export const clear = (folder: string): void => rmSync(join(folder, LOG), { force: true })

/** Appends a space to the log, with its head before its first beat. */
export const appendBegin = (folder: string, space: string, head: number): void => {
  if (prepare(folder)) appendFileSync(join(folder, LOG), `${head} ${space}\n`)
}

/** Rewrites the log from the head of each space before its first beat. */
export const rewriteBegins = (folder: string, heads: ReadonlyMap<string, number>): void => {
  const whole = join(folder, `${LOG}.new`)
  writeFileSync(whole, Array.from(heads, ([space, head]) => `${head} ${space}\n`).join(""))
  renameSync(whole, join(folder, LOG))
}

/**
 * The marks of a space.
 */
export const read = (folder: string, space: string): ReadonlyArray<Mark> =>
  attempt(() => (JSON.parse(readFileSync(place(folder, space), "utf8")) as { readonly marks: ReadonlyArray<Mark> }).marks, [])

/**
 * Replaces the marks of a space durably. An empty list removes the file.
 */
export const write = (folder: string, space: string, marks: ReadonlyArray<Mark>): void => {
  const file = place(folder, space)
  if (marks.length === 0) return rmSync(file, { force: true })
  if (!prepare(folder)) return
  const draft = `${file}.draft`
  const descriptor = openSync(draft, "w", 0o600)
  try {
    writeSync(descriptor, JSON.stringify({ v: 1, marks }))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, file)
}

/** Creates the folder. Without a data folder, no space outlives the process, and no record is needed. */
const prepare = (folder: string): boolean => {
  const isKept = existsSync(dirname(folder))
  if (isKept) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return isKept
}

const place = (folder: string, space: string): string => join(folder, space + EXTENSION)

/** Reads a file; an absent or damaged file counts as empty. */
const attempt = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
