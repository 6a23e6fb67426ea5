/**
 * The end of a process with the script runner that started it.
 *
 * `npm start` runs its command in a shell. A signal to npm ends the shell, which does not pass it on, and SIGKILL ends npm alone. Then
 * nothing would wait for the command any more: it would keep the port and the lock of its data. So a process of a script stops when
 * its parent has ended, and when that is a shell, with the parent of the shell.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import process from "node:process"
import * as EndFile from "./EndFile.ts"

/** The variable that npm, Bun and Deno set for the scripts of a `package.json`. */
const SCRIPT = "npm_lifecycle_event"

/** The interval between two looks at the parent, in milliseconds. */
const PERIOD = 250

/** The shells that run the line of a script. Any other program may outlive its own parent on purpose. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "dash", "bash", "ash", "busybox", "ksh", "zsh"])

/** The name of a process and the number of its parent, as Linux tells them; `undefined` on other systems. */
const look = (pid: number): { readonly name: string; readonly parent: number } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const end = stat.lastIndexOf(")")
    return { name: stat.slice(stat.indexOf("(") + 1, end), parent: Number(stat.slice(end + 2).split(" ")[1]) }
  } catch {
    return undefined
  }
}

/** Tells whether the parent has ended, or the parent of a shell. */
const ending = (): () => boolean => {
  const parent = process.ppid
  const shell = look(parent)
  const runner = shell !== undefined && SHELLS.has(shell.name) ? shell.parent : undefined
  return () => process.ppid !== parent || (runner !== undefined && (look(parent)?.parent ?? runner) !== runner)
}

/**
 * Stops this process as SIGTERM does when the process that started it has ended, if that runs a script of a `package.json` or
 * supervises this one.
 */
export const follow = (): void => {
  if (process.env[SCRIPT] === undefined && EndFile.file === undefined) return
  const isOver = ending()
  const watch = setInterval(() => {
    if (!isOver()) return
    clearInterval(watch)
    // A signal to itself needs a permission on some hosts.
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(143)
  }, PERIOD)
  watch.unref()
}
