/**
 * The one error of the client.
 *
 * @module
 */

/** The problem details of an answer. */
export interface Problem {
  readonly code: string
  readonly status: number
  readonly detail: string
  readonly [name: string]: unknown
}

/**
 * A request that failed.
 *
 * `code` is the stable code of the runtime, such as `cell/type`; decide by it, and not by `status`. Beside these the client has
 * `server/unreachable` (no answer), `server/timeout`, `server/answer` (not from a Systole server), `server/redirect`,
 * `token/failed` (the function `token` threw), `cell/unchanged` (304) and `value/rich` (a value that JSON has no form for).
 *
 * @category errors
 * @since 0.2.0
 */
export class RequestFailed extends Error {
  readonly _tag = "RequestFailed"
  override readonly name = "RequestFailed"
  readonly code: string
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** The problem details of the answer. */
  readonly problem: Problem
  /** The path of the receipt, if the signal became an event. It is over: do not send it again. */
  readonly location: string | undefined
  /** The milliseconds after which the server takes it again, if it tells. */
  readonly after: number | undefined

  constructor(problem: Problem, more: { readonly location?: string | null; readonly after?: number; readonly cause?: unknown } = {}) {
    super(problem.detail, "cause" in more ? { cause: more.cause } : {})
    this.code = problem.code
    this.status = problem.status
    this.problem = problem
    this.location = more.location ?? undefined
    this.after = more.after
  }

  get detail(): string {
    return this.message
  }

  /** Whether the request may have been done nevertheless: no answer came, or one that is not a refusal. */
  get isUnknown(): boolean {
    return this.status < 300 || this.status >= 500
  }
}

/** A failure of the client itself, or of what lies between. */
export const failed = (code: string, detail: string, cause?: unknown): RequestFailed =>
  new RequestFailed({ code, status: 0, detail }, cause === undefined ? {} : { cause })

/** The failure for an answer that no Systole server gives. */
export const foreign = (status: number): RequestFailed => {
  const detail = `An answer with status ${status} is not from a Systole server. Check its address, and what lies between`
  return new RequestFailed({ code: "server/answer", status, detail })
}
