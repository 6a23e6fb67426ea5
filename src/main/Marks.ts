/**
 * Marks: what was under way when a process ended, in files beside the stores.
 *
 *     <data>/watch/<space>.json   the marks of a space, where it has any
 *     <data>/watch/begun.log      a line for each space that was opened and began to beat in this process: its head, and its name
 *
 * The log is gone after a clean end. It is written once each time that a space is
 * opened, and is not synced: what the end of a process leaves behind outlives it anyway.
 *
 * @module
 */
import { appendFileSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Mark } from "../kernel/watchdog/Board.ts"
import type { Left } from "../kernel/watchdog/Watchdog.ts"

const LOG = "begun.log"
const EXTENSION = ".json"

/** Where the marks of a data folder lie. */
export const folderOf = (data: string): string => join(data, "watch")

/**
 * The marks that the process before left, space by space.
 *
 * @category getters
 * @since 0.1.0
 */
export const left = (folder: string): Map<string, Left> => {
  const found = new Map<string, Left>()
  for (const file of attempt(() => readdirSync(folder), [])) {
    if (file.endsWith(EXTENSION)) found.set(file.slice(0, -EXTENSION.length), { marks: read(folder, file.slice(0, -EXTENSION.length)), began: undefined })
  }
  for (const line of attempt(() => readFileSync(join(folder, LOG), "utf8"), "").split("\n")) {
    const [head, space] = line.split(" ")
    if (space !== undefined) found.set(space, { marks: found.get(space)?.marks ?? [], began: Number(head) })
  }
  return found
}

/**
 * Begins the log of this process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const clear = (folder: string): void => rmSync(join(folder, LOG), { force: true })

/** Notes that a space begins to beat. */
export const begins = (folder: string, space: string, head: number): void => {
  if (prepare(folder)) appendFileSync(join(folder, LOG), `${head} ${space}\n`)
}

/** Writes the log anew: of each space the head on which it began. */
export const begun = (folder: string, heads: ReadonlyMap<string, number>): void => {
  const whole = join(folder, `${LOG}.new`)
  writeFileSync(whole, Array.from(heads, ([space, head]) => `${head} ${space}\n`).join(""))
  renameSync(whole, join(folder, LOG))
}

/**
 * The marks of a space.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = (folder: string, space: string): ReadonlyArray<Mark> =>
  attempt(() => (JSON.parse(readFileSync(place(folder, space), "utf8")) as { readonly marks: ReadonlyArray<Mark> }).marks, [])

/**
 * Puts marks in the place of those that a space has, durably; none takes them away.
 *
 * @category combinators
 * @since 0.1.0
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

/** Makes the folder beside the stores; without a folder of stores no space outlives the process. */
const prepare = (folder: string): boolean => {
  const isKept = existsSync(dirname(folder))
  if (isKept) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return isKept
}

const place = (folder: string, space: string): string => join(folder, space + EXTENSION)

/** A file that is absent or damaged says nothing. */
const attempt = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
