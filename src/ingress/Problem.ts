/**
 * Problem details (RFC 9457): the mapping from failures to HTTP statuses.
 *
 * Each expected failure carries a stable code, and a table maps the code to a status. A failure without such a code
 * becomes a 500 without details. Failures of a store get a fixed message, so that no path or database error leaks.
 *
 * @module
 */
import type { CellHeld, SpaceStopped } from "../kernel/model/SpaceError.ts"

/** The code of a refused request. */
type RefusalCode =
  | "auth/missing" | "beat/absent" | "blob/absent" | "blob/range" | "body/key" | "body/malformed" | "body/media-type"
  | "body/number" | "body/too-deep" | "body/too-large" | "cell/absent" | "cell/content" | "host/refused" | "label/withheld"
  | "query/invalid" | "receipt/absent" | "route/absent" | "route/method" | "rv/attempts" | "signal/id-malformed"
  | "signal/id-unequal" | "watch/full" | "watch/slow"

/**
 * The ingress refuses a request before it reaches a space.
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestRefused extends Error {
  readonly _tag = "RequestRefused"
  override readonly name = "RequestRefused"
  readonly code: RefusalCode
  readonly reason: string

  constructor({ code, reason }: { readonly code: RefusalCode; readonly reason: string }) {
    super(reason)
    this.code = code
    this.reason = reason
  }
}

/**
 * The answer for a request that does not read; `undefined` for one that does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unlessRead = ({ method }: Request, path: string): Response | undefined =>
  method === "GET" || method === "HEAD" ? undefined : notAllowed({ method, path }, "GET")

/**
 * The answer for a method that a path does not take: 405 with the methods that it takes.
 *
 * @category constructors
 * @since 0.1.0
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
  "store/damaged": (space) =>
    `What is stored of space ${space} cannot be read. The log of the runtime says why; until that is mended the space cannot be used`,
  "store/locked": (space) => `The store of space ${space} is held by another process. Go through the server that it belongs to, or send ` +
    "the request again when that has ended",
  "store/stale": (space) => `Space ${space} was opened somewhere else since, and opens anew. Send the request again`,
  "store/unavailable": (space) =>
    `The store of space ${space} failed, and the log of the runtime says how. What was acknowledged is safe; send the request again later`
}

/** The HTTP status of each code. */
export const statuses: Readonly<Record<string, number>> = {
  "address/invalid": 400,
  "body/key": 400,
  "body/malformed": 400,
  "body/number": 400,
  "body/too-deep": 400,
  "cell/content": 400,
  "flow/invalid": 400,
  "io/invalid": 400,
  "io/opcode-absent": 400,
  "ops/invalid": 400,
  "query/invalid": 400,
  "rv/invalid": 400,
  "rv/no-spec": 400,
  "signal/id-malformed": 400,
  "signal/id-unequal": 400,
  "signal/invalid": 400,
  "space/name": 400,
  "value/invalid": 400,
  "auth/missing": 401,
  "cell/refused": 403,
  "label/withheld": 403,
  "host/refused": 403,
  "rv/token": 403,
  "beat/absent": 404,
  "blob/absent": 404,
  "cell/absent": 404,
  "dead/absent": 404,
  "flow/absent": 404,
  "flow/unknown": 404,
  "io/channel-absent": 404,
  "io/request-absent": 404,
  "ops/absent": 404,
  "receipt/absent": 404,
  "run/absent": 404,
  "route/absent": 404,
  "rv/absent": 404,
  "space/unknown": 404,
  "route/method": 405,
  "beat/aborted": 409,
  "flow/exists": 409,
  "flow/full": 429,
  "flow/state": 409,
  "control/refused": 409,
  "io/finished": 409,
  "io/unheard": 409,
  "link/loop": 409,
  "ops/closed": 409,
  "ops/held": 409,
  "ops/unheard": 409,
  "run/state": 409,
  "rv/finished": 409,
  "rv/ledger-missing": 409,
  "rv/not-quarantined": 409,
  "body/too-large": 413,
  "content/large": 413,
  "body/media-type": 415,
  "blob/range": 416,
  "cell/locked": 423,
  "signal/id-reused": 422,
  "history/busy": 429,
  "inbox/full": 429,
  "ops/full": 429,
  "reactor/full": 429,
  "rv/attempts": 429,
  "rv/full": 429,
  "rv/untold": 409,
  "watch/full": 429,
  "watch/slow": 429,
  "feature/not-built": 501,
  "store/full": 507,
  "cell/held": 503,
  ...Object.fromEntries(Object.keys(troubles).map((code) => [code, 503]))
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  422: "Unprocessable Content",
  423: "Locked",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  507: "Insufficient Storage"
}

/**
 * The problem details of a failure, as the response body shows them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem {
  readonly type: "about:blank"
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The time of the next useful retry, in milliseconds since 1970, if known. */
  readonly retry_at?: number
}

/**
 * The problem details of a failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (failure: unknown): Problem => {
  const code = codeOf(failure)
  const status = code === undefined ? undefined : statuses[code]
  if (code === undefined || status === undefined) {
    return {
      type: "about:blank",
      title: titles[500]!,
      status: 500,
      detail: "The runtime failed at this request; its log says how",
      code: "internal"
    }
  }
  const trouble = isOfRemoval(failure) ? undefined : troubles[code]
  const detail = trouble?.(JSON.stringify(spaceOf(failure))) ?? (failure as Error).message
  const problem: Problem = { type: "about:blank", title: titles[status]!, status, detail, code }
  return isHeld(failure) ? { ...problem, retry_at: failure.at } : problem
}

/**
 * Whether a failure belongs in the log: the runtime failed, and was not just asked for a part that the build lacks, or for a space
 * that a caller removed meanwhile.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isReported = (failure: unknown): boolean => {
  const { status } = of(failure)
  return status >= 500 && status !== 501 && !isOfRemoval(failure)
}

/** Whether the space of a failure was removed, so that it does not open again. */
const isOfRemoval = (failure: unknown): boolean => (failure as Partial<SpaceStopped> | undefined)?.isRemoved === true

/** By its tag, because the class would bring the runtime into the Worker in front. */
const isHeld = (failure: unknown): failure is CellHeld => (failure as { readonly _tag?: unknown } | undefined)?._tag === "CellHeld"

/** The name of the failed space; empty if the failure names none. */
const spaceOf = (failure: unknown): string => {
  const { reason, space } = failure as { readonly space?: string; readonly reason?: { readonly space?: string } }
  return space ?? reason?.space ?? ""
}

/**
 * The response to a failed request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = (failure: unknown): Response => {
  const problem = of(failure)
  const headers: Record<string, string> = { "content-type": "application/problem+json", "cache-control": "no-store" }
  if (problem.status === 429 || problem.status === 503) {
    headers["retry-after"] = String(isHeld(failure) ? Math.ceil(failure.after / 1000) : 1)
  }
  if (problem.status === 401) headers["www-authenticate"] = "Bearer"
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}

const codeOf = (failure: unknown): string | undefined => {
  if (!(failure instanceof Error)) return undefined
  const code = (failure as { readonly code?: unknown }).code
  return typeof code === "string" && Object.hasOwn(statuses, code) ? code : undefined
}
