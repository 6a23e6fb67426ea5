/**
 * Handles: the pending results of a durable run, by their numbers in the order of their calls.
 *
 * A handle is a promise that settles at the start of a segment alone.
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { Due } from "../stage/Due.ts"
import { WaitCancelled } from "./RunError.ts"

/** The object of a handle: a time, a request to a channel, a signal, or the end of an event. */
export type AwaitedObject =
  | { readonly kind: "sleep"; readonly due: Due }
  | { readonly kind: "request"; readonly rid: string }
  /** The `nth` signal of a pair, by the number of the pair in the run. */
  | { readonly kind: "signal"; readonly pair: number; readonly nth: number }
  | { readonly kind: "event"; readonly id: string }

/** The result of a handle, as the step log has it. */
export type HandleResult = readonly [handle: number, outcome: "ok", value?: Value] | HandleFailure

/** The failure of a handle, as the step log has it. */
export type HandleFailure = readonly [handle: number, outcome: "failed", tag: string, code: string, message: string, retryAfterMs?: number]

/** The error of a failed handle, as the body sees it. */
interface FailedWait extends Error {
  readonly _tag: string
  readonly code: string
}

/** The transaction that made a handle. */
export interface HandleOwner {
  /** The body awaits a handle. */
  readonly listen: (handle: Handle) => void
  readonly cancel: (handle: Handle) => boolean
}

/** Follows the handles of a body. */
export interface HandleFollower {
  readonly made: (handle: Handle) => void
  /** The body awaits a handle for the first time. */
  readonly awaited: (handle: Handle) => void
}

/**
 * A pending result.
 */
export class Handle extends Promise<Value> {
  /** Whether the body awaits it. */
  isAwaited = false
  /** Whether an interruption may have left behind the code that awaits it. */
  isLoose = false
  number = -1
  awaited: AwaitedObject = { kind: "request", rid: "" }
  /** Makes the value that the body gets of the settled one. */
  shown: ((value: Value) => unknown) | undefined
  private resolve: (value: Value) => void = nothing
  private reject: (error: unknown) => void = nothing
  private owner: HandleOwner | undefined

  /** Promises that derive from a handle are plain ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  /** Creates a pending handle. */
  static pending(number: number, awaited: AwaitedObject, owner: HandleOwner): Handle {
    let settle: readonly [Handle["resolve"], Handle["reject"]] = [nothing, nothing]
    const handle = new Handle((resolve, reject) => {
      settle = [resolve, reject]
    })
    handle.number = number
    handle.awaited = awaited
    const [resolve, reject] = settle
    handle.resolve = resolve
    handle.reject = reject
    handle.owner = owner
    // A handle that the body never awaits may fail.
    Promise.prototype.then.call(handle, nothing, nothing)
    return handle
  }

  override then<A = Value, B = never>(
    onFulfilled?: ((value: Value) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    this.owner?.listen(this)
    this.isAwaited = true
    return super.then(onFulfilled, onRejected)
  }

  /** Ends the wait: the promise rejects at once. Returns false if the result is there already. */
  cancel(): boolean {
    return this.owner?.cancel(this) ?? false
  }

  /** The failure of the handle if its body cancels it. */
  get cancelled(): HandleResult {
    const { awaited, number } = this
    if (awaited.kind === "request") {
      return [number, "failed", "RequestFailed", "io/cancelled", `request ${awaited.rid} was cancelled by its run`]
    }
    const { _tag, code, message } = new WaitCancelled({ name: NAMES[awaited.kind] })
    return [number, "failed", _tag, code, message]
  }

  /** Settles the handle with a recorded or captured result. Returns the error of a failed one. */
  settle(settled: HandleResult): FailedWait | undefined {
    if (settled[1] === "ok") return void this.resolve(this.shown === undefined ? settled[2] : this.shown(settled[2]) as Value)
    const error = errorOf(settled)
    this.reject(error)
    return error
  }
}

const nothing = (): void => {}

/** The calls that make waits. */
const NAMES = { sleep: "tx.sleep", signal: "tx.waitForSignal", event: "tx.waitForEvent" } as const

const errorOf = ([, , tag, code, message, retryAfterMs]: HandleFailure): FailedWait =>
  Object.assign(new Error(message), { _tag: tag, code, name: tag, ...retryAfterMs === undefined ? {} : { retryAfterMs } })
