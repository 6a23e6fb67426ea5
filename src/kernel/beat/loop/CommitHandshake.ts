/**
 * The commit handshake of a space: how one group becomes durable.
 *
 *     idle ─open─► begin ─append─► put ─flush─► finish ─publish─► commit ─end─► idle
 *                                                 │ ▲
 *                                           refuse▼ │flush                any ─fail─► abort
 *                                             pending_retry
 *
 * A flush that the store refuses without any effect is repeated, after waits that double. A
 * flush that fails in another way, or exceeds its time limit, is never repeated: the space
 * stops, and opens again in its durable state. The state is not journaled, and runs cannot
 * read it; `/rt/analytics/persist` shows it. [S3 §CPS async handshake]
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../../diagnostic/Reporter.ts"
import type { Series, Telemetry } from "../../../diagnostic/Telemetry.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import { isUnapplied } from "../../../persistence/PersistenceError.ts"
import type { Limits } from "../../model/Limits.ts"
import type { Loss } from "../../journal/LostBeats.ts"
import { FlushTimedOut } from "../../model/SpaceError.ts"
import type { RunHost } from "../../watchdog/RunHost.ts"

/**
 * The states of a group: `begin` takes beats and signals, `put` has batches in the store,
 * `finish` waits for the flush, `pending_retry` for its repetition, `commit` publishes.
 * `idle` is without a group; `abort` is final.
 */
export type HandshakeState = "idle" | "begin" | "put" | "finish" | "pending_retry" | "commit" | "abort"

/** The events of a group. */
export type HandshakeStep = "open" | "append" | "flush" | "refuse" | "publish" | "end" | "fail"

/** While a flush runs, `open` and `append` belong to the group behind it. */
const transitions: Readonly<Record<HandshakeState, Readonly<Partial<Record<HandshakeStep, HandshakeState>>>>> = {
  idle: { open: "begin", append: "put", flush: "finish", end: "idle", fail: "abort" },
  begin: { open: "begin", append: "put", flush: "finish", end: "idle", fail: "abort" },
  put: { open: "put", append: "put", flush: "finish", fail: "abort" },
  finish: { open: "finish", append: "finish", refuse: "pending_retry", publish: "commit", fail: "abort" },
  pending_retry: { open: "pending_retry", append: "pending_retry", flush: "finish", fail: "abort" },
  commit: { open: "commit", append: "commit", end: "idle", fail: "abort" },
  abort: { open: "abort", append: "abort", end: "abort", fail: "abort" }
}

/**
 * The state after a step.
 *
 * @throws Error if the state does not allow the step
 */
export const after = (state: HandshakeState, step: HandshakeStep): HandshakeState => {
  const next = transitions[state][step]
  if (next === undefined) throw new Error(`the commit handshake cannot "${step}" in state "${state}"`)
  return next
}

/**
 * The metrics of a space since it was opened, with the names of [S3].
 */
export interface HandshakeMetrics {
  readonly state: HandshakeState
  /** Groups whose flush runs or waits. */
  readonly async_inflight: number
  /** Milliseconds of the newest completed flush, with its repetitions. */
  readonly async_cq_latency: number
  /** Repeated flushes. */
  readonly async_retries: number
  /** Flushes that held the thread, because the store writes synchronously. */
  readonly async_shim_jobs: number
}

/** The parts of a space that the handshake uses. */
interface Dependencies {
  readonly space: string
  readonly store: Pick<SpaceStore, "flush">
  readonly host: Pick<RunHost, "fork" | "now" | "timer">
  readonly limits: Limits
  readonly reporter: Reporter
  readonly telemetry: Pick<Telemetry, "now" | "series" | "since">
}

/** Receives the end of a flush: its failure, or `undefined`. */
export type FlushEnd = (failure: Failed | undefined) => void

/** The failure of a flush. */
interface Failed {
  readonly error: unknown
}

/**
 * The handshake of one open space.
 */
export class CommitHandshake {
  state: HandshakeState = "idle"
  private readonly deps: Dependencies
  private readonly durations: Series
  /** Groups behind the running flush. */
  private behind = 0
  private isCongested = false
  private attempt = 0
  private since = 0
  private moment = 0n
  private latency = 0
  private retries = 0
  private blocking = 0
  private fiber: Fiber.Fiber<void, unknown> | undefined
  private disarm: (() => void) | undefined
  private failed: Failed | undefined

  constructor(deps: Dependencies) {
    this.deps = deps
    this.durations = deps.telemetry.series("systole.flush.duration")
  }

  /** Whether a flush runs or is repeated, or its group is being published. */
  get isRunning(): boolean {
    return this.state === "finish" || this.state === "pending_retry" || this.state === "commit"
  }

  get metrics(): HandshakeMetrics {
    return {
      state: this.state,
      async_inflight: (this.isRunning ? 1 : 0) + this.behind,
      async_cq_latency: this.latency,
      async_retries: this.retries,
      async_shim_jobs: this.blocking
    }
  }

  /** Takes a step that has no other effect. */
  take(step: "open" | "append" | "end"): void {
    this.state = after(this.state, step)
  }

  /** Counts a group that waits behind the running flush. Too many are reported once, until a flush leaves fewer. */
  queue(): void {
    const { limits, reporter, space } = this.deps
    if (++this.behind <= limits.flushGroups || this.isCongested) return
    this.isCongested = true
    reporter.report({ ...congestion(this.behind), space, beat: undefined })
  }

  /** Flushes the store, and calls `ended` once: within this call if the store writes synchronously. */
  flush(ended: FlushEnd): void {
    const { host, limits: { flushMillis }, space, store, telemetry } = this.deps
    if (this.state !== "pending_retry") {
      this.attempt = 0
      this.since = host.now()
      this.moment = telemetry.now()
    }
    this.state = after(this.state, "flush")
    const fiber = host.fork(store.flush)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      this.blocking++
      return this.exited(exit, ended)
    }
    this.fiber = fiber
    this.disarm = host.timer(host.now() + flushMillis, () => this.fail(new FlushTimedOut({ space, millis: flushMillis }), ended))
    fiber.addObserver((exit) => {
      // An aborted flush may still end.
      if (this.fiber !== fiber) return
      this.fiber = undefined
      this.disarm?.()
      this.disarm = undefined
      this.exited(exit, ended)
    })
  }

  /** Ends the handshake for good, without a call of `ended`. */
  abort(): void {
    this.state = after(this.state, "fail")
    this.disarm?.()
    this.disarm = undefined
    const { fiber } = this
    this.fiber = undefined
    fiber?.interruptUnsafe()
  }

  /** The loss caused by a failed flush, or by another failure that lost beats after the newest durable one. */
  lossOf(error: { readonly code: string }, { durable, newest }: { readonly durable: number; readonly newest: number }): Loss | undefined {
    const { failed } = this
    if (failed === undefined) return newest > durable ? { topic: "persist.flush.fail", code: error.code, newest } : undefined
    const topic = failed.error instanceof FlushTimedOut ? "persist.async.tmo" : "persist.flush.fail"
    return { topic, code: codeOf(failed.error) ?? error.code, newest }
  }

  private exited(exit: Exit.Exit<void, unknown>, ended: FlushEnd): void {
    if (Exit.isFailure(exit)) {
      const error = Cause.squash(exit.cause)
      return isUnapplied(error) ? this.refused(error, ended) : this.fail(error, ended)
    }
    this.state = after(this.state, "publish")
    const { host, telemetry } = this.deps
    this.latency = host.now() - this.since
    this.durations.add(telemetry.since(this.moment))
    if (this.behind <= this.deps.limits.flushGroups) this.isCongested = false
    this.behind = 0
    ended(undefined)
  }

  /** The store applied nothing: repeats the flush after a wait. */
  private refused(error: unknown, ended: FlushEnd): void {
    const { host, limits: { flushAttempts, flushRetryMillis } } = this.deps
    if (++this.attempt >= flushAttempts) return this.fail(error, ended)
    this.state = after(this.state, "refuse")
    this.retries++
    this.disarm = host.timer(host.now() + flushRetryMillis * 2 ** (this.attempt - 1), () => {
      this.disarm = undefined
      this.flush(ended)
    })
  }

  private fail(error: unknown, ended: FlushEnd): void {
    const failed = { error }
    this.failed = failed
    this.abort()
    ended(failed)
  }
}

/** The code of an error, if it has one. */
const codeOf = (error: unknown): string | undefined => {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : undefined
}

const congestion = (groups: number): Diagnostic.Diagnostic =>
  Diagnostic.of("persist.async", {
    note: `${groups} groups wait behind the running flush`,
    origin: { kind: "runtime", name: "persistence" },
    subject: undefined
  })
