/**
 * The cancellations that a durable run was given, as errors of its handles.
 *
 * A body may end with one of them, with an error that it caused, or as an interrupted Effect. Each is an end by the
 * cancellation, in whatever segment it came.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import { CANCELLED } from "./RunCode.ts"

/** The most causes of an error that are looked at. */
const MAX_CAUSES = 100

/**
 * The cancellations of one run.
 */
export class Cancellations {
  private readonly given = new WeakSet<object>()
  private newest: object | undefined
  private ofBody: object | undefined

  /** Whether the run was given one. */
  get isGiven(): boolean {
    return this.newest !== undefined
  }

  /** Notes the error with which a handle fails. The failure of a request has the code that its channel gave. */
  give(error: { readonly _tag: string; readonly code: string }): void {
    if (error.code !== CANCELLED || error._tag === "RequestFailed") return
    this.given.add(error)
    this.newest = error
  }

  /** Notes the failure with which an Effect ended. Its interruption is the newest cancellation. */
  endEffect(cause: Cause.Cause<unknown>): void {
    if (this.newest !== undefined) this.ofBody = this.amongReasons(cause) ?? (Cause.hasInterruptsOnly(cause) ? this.newest : undefined)
  }

  /** The cancellation with which a body ended that raised an error; `undefined` if it ended otherwise. */
  endOf(error: unknown): object | undefined {
    return this.ofBody ?? this.of(error)
  }

  private amongReasons({ reasons }: Cause.Cause<unknown>): object | undefined {
    for (const reason of reasons) {
      const found = Cause.isInterruptReason(reason) ? undefined : this.of(Cause.isFailReason(reason) ? reason.error : reason.defect)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The cancellation among an error and its causes. */
  private of(error: unknown): object | undefined {
    let cause = error
    for (let i = 0; i < MAX_CAUSES && typeof cause === "object" && cause !== null; i++) {
      if (this.given.has(cause)) return cause
      cause = causeOf(cause)
    }
    return undefined
  }
}

/** The cause of an error of any kind, which may refuse to be read. */
const causeOf = (error: object): unknown => {
  try {
    return (error as { readonly cause?: unknown }).cause
  } catch {
    return undefined
  }
}
