/**
 * Outcomes: the unsuccessful results of a handling.
 *
 * The class of a failure decides whether it is retried, never its text.
 *
 * @module
 */
import * as Data from "effect/Data"

/**
 * The wait before another attempt: a duration such as `"10s"`, up to `"366d"`, a time of ISO 8601 with its offset, a `Date`, or a number
 * of beats. A time that is past, and `"0s"`, is the next beat.
 */
export type After = string | Date | { readonly beats: number }

/**
 * Requests another attempt in a later beat. Return it, throw it, or fail with it.
 *
 * The wait is that of the enzyme's `retry`, unless `after` gives another one. One that cannot be read makes the handling a dead letter,
 * `run/retry-after`.
 *
 * @example Waiting for the write of another enzyme
 * ```ts
 * import { Enzyme, Retry } from "systole"
 *
 * export default Enzyme.make({
 *   name: "ship",
 *   query: "/signals/ship/:order",
 *   retry: { attempts: 5 },
 *   run: (tx, event) => tx.get(`/data/paid/${event.params["order"]}`) ?? new Retry({ reason: "the order is not paid yet" })
 * })
 * ```
 *
 * @example Waiting as long as a server asks
 * ```ts
 * import { Enzyme, Retry } from "systole"
 *
 * export default Enzyme.make({
 *   name: "fetch",
 *   query: "/signals/fetch",
 *   retry: { attempts: 20, delay: "1s" },
 *   durable: true,
 *   run: async (tx) => {
 *     const { headers, status } = await tx.io.fetch("https://example.com/")
 *     // The header is a number of seconds, or a date of HTTP.
 *     const asked = headers["retry-after"] ?? "60"
 *     if (status !== 429) return status
 *     throw new Retry({ reason: "too many requests", after: asked.endsWith("GMT") ? new Date(asked) : `${asked}s` })
 *   }
 * })
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class Retry extends Data.TaggedError("Retry")<{ readonly reason: string; readonly after?: After | undefined }> {
  readonly code = "run/retry"
  override get message() {
    return this.reason
  }
}

/** The wait that a `Retry` of any copy of the package requests, unchanged; `undefined` for none. */
export const afterOf = (error: unknown): unknown => (error as Pick<Retry, "after">).after

/**
 * Aborts the whole beat: none of it is committed. Return it, throw it, or fail with it. `onFatal` of the enzyme decides
 * whether the space then stops.
 *
 * @category errors
 * @since 0.1.0
 */
export class Fatal extends Data.TaggedError("Fatal")<{ readonly reason: string }> {
  readonly code = "run/fatal"
  override get message() {
    return this.reason
  }
}

/** Tests whether an error has this tag, in any copy of the package. Reading a thrown value may throw. */
export const isTagged = (error: unknown, tag: string): boolean => {
  try {
    return typeof error === "object" && error !== null && (error as { readonly _tag?: unknown })._tag === tag
  } catch {
    return false
  }
}

/** The errors of ECMAScript, with equal names on every host; a host's own errors differ. */
const NATIVE: ReadonlySet<string> = new Set(
  ["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"]
)

/**
 * Returns a short plain name, because tags and codes are hashed. Only tags of authors count: hosts add names and codes
 * of their own to thrown values.
 */
export const tagOf = (error: unknown): string => {
  const { _tag, name } = membersOf(error)
  return plain(_tag) ?? (typeof name === "string" && NATIVE.has(name) ? name : "Defect")
}

/** Returns the stable code of a tagged error, and `run/failed` for other values. */
export const codeOf = (error: unknown): string => {
  const { _tag, code } = membersOf(error)
  return (typeof _tag === "string" ? plain(code) : undefined) ?? "run/failed"
}

const membersOf = (error: unknown): { readonly _tag?: unknown; readonly name?: unknown; readonly code?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

const plain = (text: unknown): string | undefined => typeof text === "string" && /^[\w./:-]{1,128}$/.test(text) ? text : undefined
