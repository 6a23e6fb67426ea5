/**
 * The words of operations: states, statuses and modes, and which is which.
 *
 * States, verbs and modes are open: any valid name is one. Statuses are three,
 * and each closes an operation in a state of its own. (Semantics, sections 4.1
 * and 4.2.)
 *
 * @module
 */
import * as Name from "../cell/Name.ts"

/** The state in which a status closes an operation. */
const closing: Readonly<Record<string, string>> = { "sts:ok": "ist:ok", "sts:fail": "ist:fail", "sts:cnl": "ist:cnl" }

/** The state of an operation that begins. */
export const RUNNING = "ist:run"

/**
 * The state that a status leads to; `undefined` for what is no status.
 *
 * @category getters
 * @since 0.1.0
 */
export const stateOf = (status: string): string | undefined => Object.hasOwn(closing, status) ? closing[status] : undefined

/**
 * A state as it is stored, or `undefined` for what is none. `ist:cxl` is another word for `ist:cnl`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const state = (text: unknown): string | undefined => {
  if (typeof text !== "string" || !text.startsWith("ist:") || Name.refusal(text) !== undefined) return undefined
  return text === "ist:cxl" ? "ist:cnl" : text
}

/**
 * What a watcher waits for, a state or a status; `undefined` for what is neither.
 *
 * @category constructors
 * @since 0.1.0
 */
export const want = (text: unknown): string | undefined =>
  typeof text === "string" && stateOf(text) !== undefined ? text : state(text)

/** Whether an operation that stands so is what somebody waits for. */
export const isMet = (want: string, { state, status }: { readonly state: string; readonly status?: string | undefined }): boolean =>
  want === state || want === status

/** Whether a text is a mode. */
export const isMode = (text: unknown): boolean => typeof text === "string" && text.startsWith("opm:") && Name.refusal(text) === undefined

/** Whether a text is a verb: one name or several, with slashes between. */
export const isVerb = (text: unknown): boolean => typeof text === "string" && typeof Name.split(`/${text}`) !== "string"
