/**
 * The watchdog for hosts with threads: Node, Deno and Bun.
 *
 * Its thread starts with the server, or with the first beat of the process. Without a thread, runs are still recorded
 * while a space is on probation.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import process from "node:process"
import { clearInterval, setImmediate, setInterval } from "node:timers"
import { Worker } from "node:worker_threads"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import * as RunBoard from "../../kernel/watchdog/RunBoard.ts"
import { ThreadBoard } from "../../kernel/watchdog/ThreadBoard.ts"
import type { WatchdogHost } from "../../kernel/watchdog/WatchdogHost.ts"
import type { JobObserver } from "../../reactor/JobQueue.ts"
import * as Debugger from "./Debugger.ts"
import * as GlobalGuards from "../guard/GlobalGuards.ts"
import { type Limits, TURN_MILLIS } from "./RunInspector.ts"
import * as EndFile from "./EndFile.ts"
import * as WatchdogFiles from "./WatchdogFiles.ts"
import type { Data } from "./WatchdogThread.ts"

/** The data folder, the time limits and the reporter of a watchdog. */
export interface Site extends Limits {
  /** The data folder. */
  readonly data: string
  readonly reporter: Reporter
}

/** A watchdog whose thread can be started before the first beat. */
export interface HostWatchdog extends WatchdogHost {
  /** Hears of the jobs of channels. */
  readonly jobs: JobObserver
  readonly start: () => void
}

/**
 * The watchdog of a data folder. Closing the scope is a clean end of the process.
 */
export const make = (site: Site): Effect.Effect<HostWatchdog, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(Effect.sync(() => new ThreadWatchdog(site)), (owner) => Effect.promise(() => owner.close())),
    ({ watchdog }) => watchdog
  )

class ThreadWatchdog {
  readonly watchdog: HostWatchdog
  private readonly board = new RunBoard.RunBoard()
  private readonly thread = new ThreadBoard()
  private readonly folder: string
  private readonly site: Site
  private worker: Worker | undefined
  private looking: NodeJS.Timeout | undefined
  private hasStarted = false
  /** The open spaces that have run a beat, each with its head before the first. */
  private readonly begun = new Map<string, number>()
  /** The number of lines in the log. */
  private lines = 0

  constructor(site: Site) {
    this.site = site
    this.folder = WatchdogFiles.folderOf(site.data)
    const { board, folder } = this
    board.isDebugged = Debugger.isPossible()
    const left = new Map(WatchdogFiles.takeRecords(folder))
    WatchdogFiles.clear(folder)
    this.watchdog = {
      board,
      jobs: this.thread,
      afterTurn: (tell) => void setImmediate(tell),
      recordOf: (space) => left.get(space) ?? nothing,
      begin: (space, head) => {
        this.start()
        this.attempt(() => this.begin(space, head))
      },
      close: (space) => {
        const marks = left.get(space)?.marks ?? []
        // The marks of refused nodes stay valid for the next opening.
        if (marks.length === 0) left.delete(space)
        else left.set(space, { marks, began: undefined })
        this.begun.delete(space)
      },
      note: (space, marks) => {
        // A process may open a space several times.
        left.set(space, { ...left.get(space) ?? nothing, marks })
        this.attempt(() => WatchdogFiles.write(folder, space, marks))
      },
      start: () => this.start()
    }
    process.on("exit", this.ended)
    for (const signal of SIGNALS) process.prependListener(signal, this.stop)
  }

  async close(): Promise<void> {
    process.off("exit", this.ended)
    for (const signal of SIGNALS) process.off(signal, this.stop)
    this.attempt(() => WatchdogFiles.clear(this.folder))
    clearInterval(this.looking)
    await this.worker?.terminate()
  }

  /** Appends a line to the log, or rewrites the log when most of its spaces are closed. */
  private begin(space: string, head: number): void {
    this.begun.set(space, head)
    if (++this.lines < 2 * this.begun.size + LINES) return WatchdogFiles.appendBegin(this.folder, space, head)
    this.lines = this.begun.size
    WatchdogFiles.rewriteBegins(this.folder, this.begun)
  }

  private start(): void {
    if (this.hasStarted || !mayThread()) return
    this.hasStarted = true
    this.thread.turn()
    this.looking = setInterval(() => {
      this.board.isDebugged = Debugger.isPossible()
      this.thread.turn()
    }, TURN_MILLIS).unref()
    const { board: { memory }, thread: { memory: threadMemory }, folder, site: { stopMillis, stuckMillis } } = this
    const program = new URL(import.meta.url.endsWith(".ts") ? "./WatchdogThread.ts" : "./WatchdogThread.js", import.meta.url)
    this.attempt(() => {
      const data: Data = { memory, threadMemory, folder, stopMillis, stuckMillis, endFile: EndFile.file }
      this.worker = new Worker(program, { workerData: data })
      this.worker.on("error", (error) => this.site.reporter.report(UnexpectedFailure.of(error)))
      this.worker.unref()
    })
  }

  /** Marks the run that occupies the thread: it ended the process by itself. */
  private readonly ended = (): void => {
    const [run] = this.board.runs()
    if (run?.place === 0) {
      this.attempt(() => {
        EndFile.tell(EndFile.file, EndFile.byWatchdog(`${RunBoard.nameOf(run)} ended the process`))
        WatchdogFiles.write(this.folder, run.space, RunBoard.mark(run, WatchdogFiles.read(this.folder, run.space)))
      })
    }
  }

  private readonly stop = (): void => this.board.stop()

  /** Performs a file operation, also in a run that ends the process. A failure is reported and stops no run. */
  private attempt(note: () => void): void {
    try {
      GlobalGuards.outside(note)
    } catch (error) {
      this.site.reporter.report(UnexpectedFailure.of(error))
    }
  }
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const

/** The minimum number of outdated lines before the log is rewritten. */
const LINES = 4096

/** Whether the host permits threads. Under Node's permission model a thread would have all rights, so it is denied. */
const mayThread = (): boolean => process.permission?.has("worker") !== false

const nothing = { marks: [], began: undefined }
