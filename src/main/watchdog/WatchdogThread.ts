/**
 * The thread of the watchdog, which keeps running while a run blocks the main thread.
 *
 * It must never wait for the main thread. It writes to standard error by file descriptor, and writes marks
 * synchronously.
 *
 * @module
 */
import { readFileSync, writeSync } from "node:fs"
import process from "node:process"
import { workerData } from "node:worker_threads"
import type { Topic } from "../../diagnostic/Topic.ts"
import * as RunBoard from "../../kernel/watchdog/RunBoard.ts"
import { ThreadBoard } from "../../kernel/watchdog/ThreadBoard.ts"
import { HELD_MILLIS, INSPECTION_MILLIS, type Limits, RunInspector, type ThreadHolder } from "./RunInspector.ts"
import * as EndFile from "./EndFile.ts"
import * as WatchdogFiles from "./WatchdogFiles.ts"

/** The input of the thread. */
export interface Data extends Limits {
  readonly memory: SharedArrayBuffer
  /** The memory of the thread board. */
  readonly threadMemory: SharedArrayBuffer
  readonly folder: string
  /** The file in which a supervisor learns the reason of the end. */
  readonly endFile: string | undefined
}

const HELD: Topic = "thread/held"

const { endFile, folder, memory, threadMemory, ...limits } = workerData as Data
const board = new RunBoard.RunBoard(memory)
const inspector = new RunInspector(board, limits, new ThreadBoard(threadMemory))

/** Prints a line. Standard error may be a closed or full pipe, which must not stop the watchdog. */
const print = (line: string): void => attempt(() => writeSync(2, `${line}\n`))

const attempt = (act: () => void): void => {
  try {
    act()
  } catch {
    // The thread that could report the error is blocked.
  }
}

const named = (run: RunBoard.Run): string => `sev:crit run/stuck ${RunBoard.nameOf(run)}`

const heldBy = ({ active, holder }: ThreadHolder): string => {
  if (holder !== undefined) return `channel ${holder} holds the thread`
  const working = active.length === 0 ? "no channel has a job in progress" : `channels with jobs in progress: ${active.join(", ")}`
  return `code outside of runs holds the thread; ${working}`
}

/** The time for which the main thread waited for a core, in milliseconds, as Linux tells it; 0 elsewhere. */
const starved = (): number => {
  try {
    return Number(readFileSync(`/proc/${process.pid}/schedstat`, "latin1").split(" ")[1]) / 1_000_000 || 0
  } catch {
    return 0
  }
}

const reasonOf = (end: ReadonlyArray<RunBoard.Run>): string =>
  end.length === 0
    ? "its thread is held beyond the limits of the waiting runs"
    : `${end.map(RunBoard.nameOf).join("; ")} did not return within its limit`

const inspect = (): void => {
  const { end, held, late } = inspector.inspect(performance.now(), starved())
  if (held !== undefined) print(`sev:crit ${HELD}: for ${HELD_MILLIS} ms, ${heldBy(held)}`)
  for (const run of late) {
    const next =
      board.isDebugged ? "a debugger may hold it, so nothing is ended" : `the process ends in ${limits.stuckMillis} ms unless it returns`
    print(`${named(run)} is over its limit of ${run.limitMs} ms, and ${next}`)
  }
  if (end === undefined) return
  for (const run of end) {
    print(`${named(run)} is noted, and the process ends`)
    // If the mark cannot be written, the next opening is still on probation.
    attempt(() => WatchdogFiles.write(folder, run.space, RunBoard.mark(run, WatchdogFiles.read(folder, run.space))))
  }
  // A process that was told to stop is not started again.
  if (!board.isStopping) EndFile.tell(endFile, EndFile.byWatchdog(reasonOf(end)))
  if (end.length === 0) {
    print(board.isStopping
      ? "sev:crit run/stuck: the process was told to stop and did not in time, so it ends"
      : `sev:crit ${HELD}: the thread is held beyond the limits of the waiting runs, of which none is noted, and the process ends`)
  }
  process.kill(process.pid, "SIGKILL")
}

let hasFailed = false

/** A look that fails is told once, and ends no later one. */
const look = (): void => {
  try {
    inspect()
  } catch (error) {
    if (!hasFailed) print(`sev:crit watchdog: a look at the runs failed: ${String(error)}`)
    hasFailed = true
  }
}

setInterval(look, INSPECTION_MILLIS)

// Deno delivers a signal to all threads. On other hosts the main thread sets the flag on the board.
const { Deno } = globalThis as { readonly Deno?: { readonly addSignalListener: (signal: string, heard: () => void) => void } }
Deno?.addSignalListener("SIGTERM", () => board.stop())
