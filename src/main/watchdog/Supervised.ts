/**
 * The part of a supervised process: its supervisor learns from a file why it ended, and starts another one.
 *
 * @module
 */
import { writeFileSync } from "node:fs"
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

/** The sentence of an end by the watchdog. */
export const byWatchdog = (reason: string): string => `The watchdog ended systole dev: ${reason}`
