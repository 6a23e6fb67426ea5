/**
 * Closed spaces with work: each is opened when its work is due, and again after a delay when it stopped or failed to open.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Heap } from "../../cell/Heap.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Turn } from "../model/Pacemaker.ts"
import type { RunHost } from "../watchdog/RunHost.ts"
import { WakeQueue } from "./WakeQueue.ts"

/** The first and the longest delay until a failed space is opened again, in milliseconds. Each failure doubles it. */
const RETRY_BASE = 1000
const RETRY_MAX = 60_000

/** A closed space with due work. */
interface DueSpace {
  readonly name: string
  readonly moment: number
  /** Its place among those of one moment. */
  readonly number: number
}

/** The host of a kernel, and the opening of a space. */
interface Dependencies {
  readonly host: Pick<RunHost, "fork" | "now" | "wake">
  readonly turn: Turn
  readonly behindMillis: number
  readonly reporter: Reporter
  readonly open: (name: string) => Effect.Effect<unknown, PersistenceError>
}

/**
 * The closed spaces of one kernel. Those that callers request are opened before due ones.
 */
export class DueSpaces {
  private readonly deps: Dependencies
  private readonly queue: WakeQueue
  /** Due spaces. The one whose work is due for the longest time is opened first. */
  private readonly due = new Heap<DueSpace>((a, b) => a.moment - b.moment || a.number - b.number)
  private added = 0
  /** Number of callers that wait for a space to open. */
  private requests = 0
  /** The number of stops and failed openings of a space since its last durable beat, by its name. */
  private readonly failures = new Map<string, number>()
  private isOpening = false
  /** Whether the moments of all spaces are being read. Until then the first due space is unknown. */
  private isReading = false
  private isClosed = false

  constructor(deps: Dependencies) {
    this.deps = deps
    this.queue = new WakeQueue(deps.host, deps.behindMillis, (name, moment) => {
      this.due.push({ name, moment, number: this.added++ })
      this.openNext()
    })
  }

  /** Sets the time of a closed space's next work, in milliseconds since 1970; `undefined` for none. */
  set(name: string, moment: number | undefined): void {
    this.queue.set(name, moment)
  }

  /** A space is open. */
  opened(name: string): void {
    this.queue.forget(name)
  }

  /** A space has advanced, or was closed by the kernel: its failures no longer count. */
  recovered(name: string): void {
    this.failures.delete(name)
  }

  /** Forgets a space without a store. */
  forget(name: string): void {
    this.queue.forget(name)
    this.failures.delete(name)
  }

  /** Ends all openings. */
  stop(): void {
    this.isClosed = true
    this.queue.stop()
  }

  /** Runs an opening that a caller waits for. Due spaces wait meanwhile. */
  request<A, E>(opening: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.requests++
      return Effect.ensuring(opening, Effect.sync(() => {
        this.requests--
        this.openNext()
      }))
    })
  }

  /** Runs the reading of the moments of all spaces. Due spaces wait meanwhile. */
  read<A, E>(reading: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.isReading = true
      return Effect.ensuring(reading, Effect.sync(() => {
        this.isReading = false
        this.openNext()
      }))
    })
  }

  /** A due space failed to open, or its wake time to be read: reports the first failure, and opens it later. Ignores a deleted space. */
  failed(name: string, error: unknown): void {
    if (!this.failures.has(name)) this.deps.reporter.report(UnexpectedFailure.of(error))
    if (error instanceof PersistenceError && error.code === "space/unknown") return void this.failures.delete(name)
    this.openLater(name)
  }

  /** Opens a space after a delay, which doubles until a beat of the space is durable. */
  openLater(name: string): void {
    if (this.isClosed) return
    const attempt = this.failures.get(name) ?? 0
    this.failures.set(name, attempt + 1)
    this.queue.set(name, this.deps.host.now() + Math.min(RETRY_BASE * 2 ** attempt, RETRY_MAX))
  }

  /** Opens the next due space, if no caller waits, after the host's turn. */
  private openNext(): void {
    if (this.isOpening || this.isReading || this.requests > 0 || this.due.size === 0 || this.isClosed) return
    this.isOpening = true
    this.deps.turn(() => {
      const name = this.requests > 0 || this.isClosed ? undefined : this.due.pop()?.name
      if (name === undefined) return void (this.isOpening = false)
      this.deps.host.fork(this.deps.open(name)).addObserver((exit) => {
        this.isOpening = false
        if (Exit.isFailure(exit)) this.failed(name, Cause.squash(exit.cause))
        this.openNext()
      })
    })
  }
}
