/**
 * The end of a process with the script runner that started it.
 *
 * `npm start` runs its command in a shell. A signal to npm ends the shell, which does not pass it on, and nothing would wait for the
 * command any more: it would keep the port and the lock of its data. So a process of a script stops when its parent has ended.
 *
 * @module
 */
import process from "node:process"

/** The variable that npm, Bun and Deno set for the scripts of a `package.json`. */
const SCRIPT = "npm_lifecycle_event"

/** The interval between two looks at the parent, in milliseconds. */
const PERIOD = 250

/**
 * Stops this process as SIGTERM does when the process that started it has ended, if that runs a script of a `package.json`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const follow = (): void => {
  if (process.env[SCRIPT] === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    // A signal to itself needs a permission on some hosts.
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(143)
  }, PERIOD)
  watch.unref()
}
