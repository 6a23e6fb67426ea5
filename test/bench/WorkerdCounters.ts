/**
 * Counters of a workerd process: its processor time, and its synchronizations of the disk, read without a tracer.
 *
 * @module
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs"
import { join } from "node:path"

/** Cumulative counters of a process. */
export interface Counters {
  readonly cpuMicros: number
  /** The synchronizations of each database, by its file. They begin anew when the platform evicts an idle object. */
  readonly fsyncs: ReadonlyMap<string, number>
}

/** The use between two readings. */
export interface Used {
  readonly cpuMicros: number
  /** Calls of fsync and fdatasync. */
  readonly fsyncs: number
}

/** The length of a tick of the processor times in `/proc`, in microseconds. */
const TICK = 10_000

/** The places of the user and the system time after the name of the program, which may contain spaces. */
const [USER, SYSTEM] = [11, 12]

/** The place of the number of commits in a wal-index, and of the number of its restarts in a write-ahead log. */
const COMMITS = 8
const RESTARTS = 12

/** The synchronizations of a checkpoint with a restart: the log, the database, and the new header of the log. */
const PER_RESTART = 3

/** Reads the counters of a process whose objects are stored in `disk`. */
export const read = (pid: number, disk: string): Counters => {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? []
  return { cpuMicros: TICK * (Number(fields[USER]) + Number(fields[SYSTEM])), fsyncs: fsyncs(disk) }
}

/** The difference of two readings. An object under load between them is not evicted, and another one adds nothing. */
export const used = (before: Counters, after: Counters): Used => {
  let fsyncs = 0
  for (const [file, count] of after.fsyncs) fsyncs += Math.max(0, count - (before.fsyncs.get(file) ?? 0))
  return { cpuMicros: after.cpuMicros - before.cpuMicros, fsyncs }
}

/** SQLite synchronizes the log once per commit, and a checkpoint synchronizes log and database. */
const fsyncs = (disk: string): Counters["fsyncs"] => {
  const counts = new Map<string, number>()
  for (const name of readdirSync(disk, { recursive: true, encoding: "utf8" })) {
    const file = join(disk, name)
    if (name.endsWith(".sqlite-shm")) counts.set(file, word(file, COMMITS).readUInt32LE())
    if (name.endsWith(".sqlite-wal")) counts.set(file, PER_RESTART * word(file, RESTARTS).readUInt32BE())
  }
  return counts
}

const word = (path: string, place: number): Buffer => {
  const file = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(4)
    readSync(file, bytes, 0, 4, place)
    return bytes
  } finally {
    closeSync(file)
  }
}
