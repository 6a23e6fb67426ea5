/**
 * The watchdog's thread: it goes on looking while the thread of the runs never
 * comes back.
 *
 * Nothing here may wait for that thread: lines go to standard error by the file
 * descriptor, and marks are written synchronously.
 *
 * @module
 */
import { writeSync } from "node:fs"
import process from "node:process"
import { workerData } from "node:worker_threads"
import * as Board from "../kernel/watchdog/Board.ts"
import { Guard, type Limits, LOOK_MILLIS } from "./Guard.ts"
import * as Marks from "./Marks.ts"

/** The input of the thread. */
export interface Data extends Limits {
  readonly memory: SharedArrayBuffer
  readonly folder: string
}

const { folder, memory, ...limits } = workerData as Data
const board = new Board.Board(memory)
const guard = new Guard(board, limits)

/** Standard error may be a pipe that is closed or full; the process ends all the same. */
const tell = (line: string): void => attempt(() => writeSync(2, `${line}\n`))

const attempt = (act: () => void): void => {
  try {
    act()
  } catch {
    // The thread that could report it never returns.
  }
}

const named = ({ beat, enzyme, event, node, space }: Board.Run): string => {
  const what = [...enzyme === "" ? [] : [`event ${event}`], ...node === "" ? [] : [`node ${node}`]].join(", ")
  return `sev:crit run/stuck ${space}@${beat} ${enzyme === "" ? node : enzyme}: ${what}`
}

const look = (): void => {
  const { end, late } = guard.look(performance.now())
  for (const run of late) {
    const next = board.isDebugged ? "a debugger may hold it, so nothing is ended" : `the process ends in ${limits.stuckMillis} ms unless it returns`
    tell(`${named(run)} is over its limit of ${run.limitMs} ms, and ${next}`)
  }
  if (end === undefined) return
  for (const run of end) {
    tell(`${named(run)} is noted, and the process ends`)
    // Without the mark, on a full disk, the next opening is on probation all the same.
    attempt(() => Marks.write(folder, run.space, Board.marked(run, Marks.read(folder, run.space))))
  }
  if (end.length === 0) tell("sev:crit run/stuck: the process was told to stop and did not in time, so it ends")
  process.kill(process.pid, "SIGKILL")
}

setInterval(look, LOOK_MILLIS)

// Deno tells all threads of a signal; elsewhere the thread of the runs says that it came.
const { Deno } = globalThis as { readonly Deno?: { readonly addSignalListener: (signal: string, heard: () => void) => void } }
Deno?.addSignalListener("SIGTERM", () => board.stop())
