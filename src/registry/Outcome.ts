/**
 * Outcomes: how a handling can end other than well.
 *
 * A failure is retryable or permanent by its class, never by its text.
 * (Architecture, section 5, "Retry" and "Fatal".)
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * Run this enzyme again, later. To be returned, thrown, or failed with.
 *
 * @example Waiting for what another enzyme writes
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
 * @category errors
 * @since 0.1.0
 */
export class Retry extends Schema.TaggedError<Retry>()("Retry", { reason: Schema.String }) {
  readonly code = "run/retry"
  override get message() {
    return this.reason
  }
}

/**
 * Abort the whole beat: none of it is committed. To be returned, thrown, or failed with.
 *
 * @category errors
 * @since 0.1.0
 */
export class Fatal extends Schema.TaggedError<Fatal>()("Fatal", { reason: Schema.String }) {
  readonly code = "run/fatal"
  override get message() {
    return this.reason
  }
}

/** Whether an error is of this class, whichever copy of the package made it. Looking at what was thrown may throw in turn. */
export const isTagged = (error: unknown, tag: string): boolean => {
  try {
    return typeof error === "object" && error !== null && (error as { readonly _tag?: unknown })._tag === tag
  } catch {
    return false
  }
}

/** The errors of the language, whose names are the same on every host; a host's own errors are not. */
const NATIVE: ReadonlySet<string> = new Set(["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"])

/** Tags and codes are hashed, so they are short plain names, and only from what an author tagged: hosts put names and codes of their own into what they throw. */
export const tagOf = (error: unknown): string => {
  const { _tag, name } = membersOf(error)
  return plain(_tag) ?? (typeof name === "string" && NATIVE.has(name) ? name : "Defect")
}

export const codeOf = (error: unknown): string => {
  const { _tag, code } = membersOf(error)
  return (typeof _tag === "string" ? plain(code) : undefined) ?? "run/failed"
}

const membersOf = (error: unknown): { readonly _tag?: unknown; readonly name?: unknown; readonly code?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

const plain = (text: unknown): string | undefined => typeof text === "string" && /^[\w./:-]{1,128}$/.test(text) ? text : undefined
