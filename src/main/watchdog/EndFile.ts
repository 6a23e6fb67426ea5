/**
 * The part of a supervised process: its supervisor learns from a file why it ended, and starts another one.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"

/** The variable with the path of the file. */
export const VARIABLE = "SYSTOLE_END_FILE"

/** The path of the file; `undefined` for a process without a supervisor. */
export const file = process.env[VARIABLE]

// A process that a module starts has another end.
delete process.env[VARIABLE]

/**
 * Tells a supervisor why the process ends, as a sentence without its point. It is called right before the end, in any thread.
 */
export const tell = (path: string | undefined, reason: string): void => {
  if (path === undefined) return
  try {
    writeFileSync(path, reason)
  } catch {
    // The reason is on standard error, too.
  }
}

/** The file beside that of the reason, with the port of the first process. */
const placeOf = (path: string): string => `${path}.port`

/**
 * The port of the processes before under the same supervisor, for one that may choose any: their clients come again to it.
 */
export const port = (path = file): number | undefined => {
  if (path === undefined) return undefined
  try {
    return Number(readFileSync(placeOf(path), "utf8"))
  } catch {
    return undefined
  }
}

/** Keeps the port of this process for the next one. */
export const keepPort = (given: number, path = file): void => {
  if (path !== undefined) tell(placeOf(path), String(given))
}

/** The sentence of an end by the watchdog. */
export const byWatchdog = (reason: string): string => `The watchdog ended systole dev: ${reason}`
