/**
 * The watchdog of hosts with threads: Node, Deno and Bun.
 *
 * Its thread starts with a server, or with the first beat of a process. Where
 * the host gives none, runs are noted on probation all the same.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as inspector from "node:inspector"
import process from "node:process"
import { clearInterval, setInterval } from "node:timers"
import { Worker } from "node:worker_threads"
import * as Accident from "../diagnostic/Accident.ts"
import type { Reporter } from "../diagnostic/Reporter.ts"
import * as Board from "../kernel/watchdog/Board.ts"
import type { Watchdog } from "../kernel/watchdog/Watchdog.ts"
import type { Limits } from "./Guard.ts"
import * as Marks from "./Marks.ts"
import type { Data } from "./WatchdogThread.ts"

/** Where marks lie, and what the watchdog goes by. */
export interface Site extends Limits {
  /** The folder of all data. */
  readonly data: string
  readonly reporter: Reporter
}

/** A watchdog that can be started before the first beat. */
export interface HostWatchdog extends Watchdog {
  readonly start: () => void
}

/**
 * The watchdog over a data folder, until the scope closes. That is a clean end.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (site: Site): Effect.Effect<HostWatchdog, never, Scope.Scope> =>
  Effect.map(Effect.acquireRelease(Effect.sync(() => new Kennel(site)), (kennel) => Effect.promise(() => kennel.close())), ({ watchdog }) => watchdog)

class Kennel {
  readonly watchdog: HostWatchdog
  private readonly board = new Board.Board()
  private readonly folder: string
  private readonly site: Site
  private worker: Worker | undefined
  private looking: NodeJS.Timeout | undefined
  private hasStarted = false
  /** The open spaces that began to beat, each with its head then, and the lines of their log. */
  private readonly begun = new Map<string, number>()
  private lines = 0

  constructor(site: Site) {
    this.site = site
    this.folder = Marks.folderOf(site.data)
    const { board, folder } = this
    board.isDebugged = isDebugged()
    const left = new Map(Marks.left(folder))
    Marks.clear(folder)
    this.watchdog = {
      board,
      left: (space) => left.get(space) ?? nothing,
      begins: (space, head) => {
        this.start()
        this.attempt(() => this.begins(space, head))
      },
      closed: (space) => {
        const marks = left.get(space)?.marks ?? []
        // A node that is refused is refused after the next opening, too.
        if (marks.length === 0) left.delete(space)
        else left.set(space, { marks, began: undefined })
        this.begun.delete(space)
      },
      note: (space, marks) => {
        // A space may be opened more than once in a process.
        left.set(space, { ...left.get(space) ?? nothing, marks })
        this.attempt(() => Marks.write(folder, space, marks))
      },
      start: () => this.start()
    }
    process.on("exit", this.ended)
    for (const signal of SIGNALS) process.prependListener(signal, this.stop)
  }

  async close(): Promise<void> {
    process.off("exit", this.ended)
    for (const signal of SIGNALS) process.off(signal, this.stop)
    this.attempt(() => Marks.clear(this.folder))
    clearInterval(this.looking)
    await this.worker?.terminate()
  }

  /** Notes it behind the others; where most of those are closed by now, in place of all. */
  private begins(space: string, head: number): void {
    this.begun.set(space, head)
    if (++this.lines < 2 * this.begun.size + LINES) return Marks.begins(this.folder, space, head)
    this.lines = this.begun.size
    Marks.begun(this.folder, this.begun)
  }

  private start(): void {
    if (this.hasStarted || !mayThread()) return
    this.hasStarted = true
    this.looking = setInterval(() => {
      this.board.isDebugged = isDebugged()
    }, DEBUGGER_MILLIS).unref()
    const { board: { memory }, folder, site: { stopMillis, stuckMillis } } = this
    const thread = new URL(import.meta.url.endsWith(".ts") ? "./WatchdogThread.ts" : "./WatchdogThread.js", import.meta.url)
    this.attempt(() => {
      this.worker = new Worker(thread, { workerData: { memory, folder, stopMillis, stuckMillis } satisfies Data })
      this.worker.on("error", (error) => this.site.reporter.report(Accident.of(error)))
      this.worker.unref()
    })
  }

  /** A run that has the thread ends the process itself. */
  private readonly ended = (): void => {
    const [run] = this.board.runs()
    if (run?.place === 0) this.attempt(() => Marks.write(this.folder, run.space, Board.marked(run, Marks.read(this.folder, run.space))))
  }

  private readonly stop = (): void => this.board.stop()

  /** A note that fails delays no run. */
  private attempt(note: () => void): void {
    try {
      note()
    } catch (error) {
      this.site.reporter.report(Accident.of(error))
    }
  }
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const

/** Lines of the log that are outdated, at least, before it is written anew. */
const LINES = 4096

/** How often it is looked whether a debugger came, in milliseconds. */
const DEBUGGER_MILLIS = 1000

/** Node's permission model grants no thread to a server: a thread of a module would have all rights. */
const mayThread = (): boolean => process.permission?.has("worker") !== false

const nothing = { marks: [], began: undefined }

/** Whether a debugger is attached to the process, or may be. */
const isDebugged = (): boolean =>
  inspector.url() !== undefined || [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(" ")].some((option) => option.startsWith("--inspect"))
