/**
 * Requests as the body of a durable run makes them: `tx.io.request` and `tx.io.fetch`.
 *
 * @module
 */
import type { Handle } from "./Handle.ts"

/** The verbs that make requests. */
export type Verb = "request" | "fetch"

/** A call that makes a request. */
export interface RequestCall {
  /** The object of the call, as the step log names it. */
  readonly at: string
  /** Its arguments, without a signal that aborts. */
  readonly args: ReadonlyArray<unknown>
  /** Whether the run awaits the result; otherwise a signal brings it. */
  readonly isAwaited: boolean
  /** Cancels the request when it is aborted. */
  readonly abort: AbortSignal | undefined
}

type Options = Readonly<Record<string, unknown>>

/**
 * A call by its arguments. The field `signal` is the path of a signal, or a signal that aborts.
 */
export const make = (verb: Verb, args: ReadonlyArray<unknown>): RequestCall => {
  // The options are the only argument of a request, and the third one of a fetch.
  const place = verb === "fetch" ? 2 : 0
  const options = args[place] as Options | undefined
  const at = verb === "fetch" ? String(args[0]) : `${String(options?.["channel"])} ${String(options?.["opcode"])}`
  const signal = options?.["signal"]
  if (!isAbort(signal)) return { at, args, isAwaited: signal === undefined, abort: undefined }
  return { at, args: args.with(place, { ...options, signal: undefined }), isAwaited: true, abort: signal }
}

const isAbort = (signal: unknown): signal is AbortSignal =>
  typeof signal === "object" && signal !== null && typeof (signal as Partial<AbortSignal>).aborted === "boolean"

/**
 * Cancels a request when a signal is aborted.
 */
export const follow = (signal: AbortSignal, handle: Handle): void => {
  const cancel = (): void => {
    try {
      handle.cancel()
    } catch {
      // An abort outside a segment ends the run, and its listener has no caller.
    }
  }
  if (signal.aborted) return cancel()
  signal.addEventListener("abort", cancel, { once: true })
  const stop = (): void => signal.removeEventListener("abort", cancel)
  // Not a wait of the body.
  Promise.prototype.then.call(handle, stop, stop)
}
