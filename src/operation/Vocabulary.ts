/**
 * The vocabulary of operations: states, statuses, modes and verbs.
 *
 * States, verbs and modes are open sets: any valid name is allowed. There are
 * three statuses, each of which closes an operation in a state of its own [S0
 * §OPS/STATES Operations].
 *
 * @module
 */
import * as Name from "../cell/Name.ts"

/** The final state for each status. */
const closing: Readonly<Record<string, string>> = { "sts:ok": "ist:ok", "sts:fail": "ist:fail", "sts:cnl": "ist:cnl" }

/** The state of a started operation. */
export const RUNNING = "ist:run"

/**
 * The final state for a status; `undefined` for an unknown status.
 */
export const stateOf = (status: string): string | undefined => Object.hasOwn(closing, status) ? closing[status] : undefined

/**
 * A state in its stored form, or `undefined` for an invalid one. `ist:cxl` is an alias of `ist:cnl`.
 */
export const state = (text: unknown): string | undefined => {
  if (typeof text !== "string" || !text.startsWith("ist:") || Name.refusal(text) !== undefined) return undefined
  return text === "ist:cxl" ? "ist:cnl" : text
}

/**
 * The condition of a watcher, a state or a status; `undefined` for an invalid one.
 */
export const want = (text: unknown): string | undefined =>
  typeof text === "string" && stateOf(text) !== undefined ? text : state(text)

/** Whether the state or the status of an operation meets a watcher's condition. */
export const isMet = (want: string, { state, status }: { readonly state: string; readonly status?: string | undefined }): boolean =>
  want === state || want === status

/** Whether a text is a mode. */
export const isMode = (text: unknown): boolean => typeof text === "string" && text.startsWith("opm:") && Name.refusal(text) === undefined

/** Whether a text is a verb: one name, or several separated by slashes. */
export const isVerb = (text: unknown): boolean => typeof text === "string" && typeof Name.split(`/${text}`) !== "string"
