/**
 * Problem details (RFC 9457): the mapping from failures to HTTP statuses.
 *
 * Each expected failure carries a stable code, whose kind has a status. A failure without such a code
 * becomes a 500 without details. Failures of a store get a fixed message, so that no path or database error leaks.
 *
 * @module
 */
import * as Refusal from "../../contract/Refusal.ts"
import type { EventFailed, ReceiptAnswer } from "./EventFailed.ts"
import type { CellHeld, IdAmbiguous, SpaceStopped } from "../../kernel/model/SpaceError.ts"

/**
 * The ingress refuses a request before it reaches a space.
 */
export class RequestRefused extends Error {
  readonly _tag = "RequestRefused"
  override readonly name = "RequestRefused"
  readonly code: Refusal.Code
  readonly reason: string

  constructor({ code, reason }: { readonly code: Refusal.Code; readonly reason: string }) {
    super(reason)
    this.code = code
    this.reason = reason
  }
}

/**
 * The answer for a request that does not read; `undefined` for one that does.
 */
export const unlessRead = ({ method }: Request, path: string): Response | undefined =>
  method === "GET" || method === "HEAD" ? undefined : notAllowed({ method, path }, "GET")

/**
 * The answer for a method that a path does not take: 405 with the methods that it takes.
 */
export const notAllowed = ({ method, path }: { readonly method: string; readonly path: string }, allow: string): Response => {
  const reason = `${path.slice(0, 200)} does not take ${method.slice(0, 20)}. It takes ${allow}`
  const refused = response(new RequestRefused({ code: "route/method", reason }))
  refused.headers.set("allow", allow)
  return refused
}

/** The messages for failures of a store, which a client can only retry. */
const troubles: Readonly<Record<string, (space: string) => string>> = {
  "space/stopped": (space) => `Space ${space} stopped, and opens again from what is durable. Send the request again`,
  "store/busy": (space) => `The store of space ${space} is written by another process at this moment. Send the request again`,
  "store/conflict": (space) => `Space ${space} is at another beat than its writer knew, and opens anew. Send the request again`,
  "store/version": (space) => `The store of space ${space} has a format of another version. The log of the runtime says which; with ` +
    "that version the space can be used",
  "journal/version": (space) => `The journal of space ${space} has a form of another version. The log of the runtime says which; with ` +
    "that version the space can be used",
  "store/damaged": (space) =>
    `What is stored of space ${space} cannot be read. The log of the runtime says why; until that is mended the space cannot be used`,
  "store/locked": (space) => `The store of space ${space} is held by another process. Go through the server that it belongs to, or send ` +
    "the request again when that has ended",
  "store/stale": (space) => `Space ${space} was opened somewhere else since, and opens anew. Send the request again`,
  "store/unavailable": (space) =>
    `The store of space ${space} failed, and the log of the runtime says how. What was acknowledged is safe; send the request again later`
}

/**
 * The HTTP status of a kind of refusal.
 */
export const statusOf = (kind: Refusal.Kind): number => Refusal.statuses[kind][0]

/**
 * The problem details of a failure, as the response body shows them.
 */
export interface Problem {
  readonly type: "about:blank"
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The time of the next useful retry, in milliseconds since 1970, if known. */
  readonly retry_at?: number
  /** The events that an own id names, newest first: at most 20. */
  readonly events?: ReadonlyArray<{ readonly id: string; readonly status: string; readonly enzymes: ReadonlyArray<string> }>
  /** The receipt of the event that is over, for a request that waited for its end. */
  readonly event?: ReceiptAnswer
}

/**
 * The problem details of a failure.
 */
export const of = (failure: unknown): Problem => {
  const code = codeOf(failure)
  const kind = code === undefined ? undefined : Refusal.statedBy(failure) ?? Refusal.kindOf(code)
  if (code === undefined || kind === undefined) {
    return {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The runtime failed at this request; its log says how",
      code: "internal"
    }
  }
  const [status, title] = Refusal.statuses[kind]
  const trouble = isOfRemoval(failure) ? undefined : troubles[code]
  const detail = trouble?.(JSON.stringify(spaceOf(failure))) ?? (failure as Error).message
  const problem: Problem = { type: "about:blank", title, status, detail, code }
  if (isFailedEvent(failure)) return { ...problem, event: failure.event }
  if (isAmbiguous(failure)) return { ...problem, events: failure.events.map(eventOf) }
  return isHeld(failure) ? { ...problem, retry_at: failure.at } : problem
}

/** The code of the problem of a failure: one of the interface, or `internal`. */
export const codeIn = (failure: unknown): string => {
  const code = codeOf(failure)
  return code !== undefined && (Refusal.statedBy(failure) ?? Refusal.kindOf(code)) !== undefined ? code : "internal"
}

/**
 * Whether a failure belongs in the log: the runtime failed, and was not just asked for a part that the build lacks, or for a space
 * that is not whole yet, that a caller removed meanwhile, or at its own end.
 */
export const isReported = (failure: unknown): boolean => {
  const { status } = of(failure)
  return status >= 500 && status !== 501 && !isOfRemoval(failure) && !PASSING.has(codeOf(failure))
}

/** The codes of states that pass by themselves, and are no failure. */
const PASSING: ReadonlySet<unknown> = new Set(["runtime/closed", "space/importing"])

/** Whether the space of a failure was removed, so that it does not open again. */
const isOfRemoval = (failure: unknown): boolean => (failure as Partial<SpaceStopped> | undefined)?.isRemoved === true

/** By its tag, because the class would bring the runtime into the Worker in front. */
const isHeld = (failure: unknown): failure is CellHeld => (failure as { readonly _tag?: unknown } | undefined)?._tag === "CellHeld"

const isFailedEvent = (failure: unknown): failure is EventFailed =>
  (failure as { readonly _tag?: unknown } | undefined)?._tag === "EventFailed"

const isAmbiguous = (failure: unknown): failure is IdAmbiguous =>
  (failure as { readonly _tag?: unknown } | undefined)?._tag === "IdAmbiguous"

const eventOf = ({ handlings, id, status }: IdAmbiguous["events"][number]): NonNullable<Problem["events"]>[number] =>
  ({ id, status, enzymes: handlings.map(({ enzyme }) => enzyme) })

/** The name of the failed space; empty if the failure names none. */
const spaceOf = (failure: unknown): string => {
  const { reason, space } = failure as { readonly space?: string; readonly reason?: { readonly space?: string } }
  return space ?? reason?.space ?? ""
}

/**
 * The response to a failed request.
 */
export const response = (failure: unknown): Response => {
  const problem = of(failure)
  const headers: Record<string, string> =
    { "content-type": "application/problem+json", "cache-control": "no-store", ...placeOf(failure) }
  if (problem.status === 429 || problem.status === 503) {
    headers["retry-after"] = String(isHeld(failure) ? Math.ceil(failure.after / 1000) : 1)
  }
  if (problem.status === 401 && problem.code.startsWith("auth/")) headers["www-authenticate"] = "Bearer"
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}

/** The path of the receipt, for an event that is over. */
export const placeOf = (failure: unknown): { readonly location?: string } =>
  isFailedEvent(failure) ? { location: failure.location } : {}

const codeOf = (failure: unknown): string | undefined => {
  const { code } = failure instanceof Error ? failure as { readonly code?: unknown } : {}
  return typeof code === "string" ? code : undefined
}
