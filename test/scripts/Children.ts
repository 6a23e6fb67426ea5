/**
 * The child processes of a script, which end with it.
 *
 * They may have left the process group of the script, and so receive no signals of the terminal. Some start processes of their own,
 * which may have left their groups, too.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process"
import { spawnSync } from "node:child_process"
import { constants } from "node:os"
import process from "node:process"

const running = new Set<number>()

/** Ends a child with this process, unless it ends before. */
export const add = (child: ChildProcess): void => {
  const { pid } = child
  if (pid === undefined) return
  running.add(pid)
  child.once("exit", () => running.delete(pid))
}

/** These processes and all that they started, by the table of the system. */
const withDescendants = (pids: Iterable<number>): ReadonlySet<number> => {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
  const rows = (stdout ?? "").trim().split("\n").map((row) => row.trim().split(/\s{1,20}/).map(Number))
  const found = new Set(pids)
  // A set is walked with what is added to it meanwhile.
  for (const parent of found) for (const [pid, ppid] of rows) if (ppid === parent && pid !== undefined) found.add(pid)
  return found
}

const end = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself, or it is no group.
  }
}

const endAll = (): void => {
  if (running.size === 0) return
  const all = withDescendants(running)
  for (const pid of running) end(-pid)
  all.forEach(end)
}

process.once("exit", endAll)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]))
