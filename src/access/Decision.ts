/**
 * The decision on a request of a token: its verb, its space, and its address.
 *
 * @module
 */
import type { Endpoint } from "../contract/Endpoint.ts"
import { AccessRefused } from "./AccessRefused.ts"
import { isNarrow, labelOf, type Token } from "./Token.ts"

/** The place of a request. */
export interface Place {
  /** The space in its path; `undefined` for a request that concerns no space. */
  readonly space: string | undefined
  /** The id of the cell in its path; `undefined` for a request that names none, or a malformed one. */
  readonly cell: string | undefined
}

/** The parts of an endpoint by which is decided. */
export type Rule = Pick<Endpoint, "access" | "verb">

/** Whether an address is one of some prefixes or below one. */
export const isCovered = (prefixes: ReadonlyArray<string>, id: string): boolean =>
  prefixes.some((prefix) => id === prefix || id.startsWith(prefix === "/" ? prefix : `${prefix}/`))

/** The part of a scope that a request is beyond. */
type Part = "clearance" | "prefix" | "space" | "verb"

const refused = ({ id }: Token, part: Part, reason: string): AccessRefused =>
  new AccessRefused(`access/${part}`, `Token ${labelOf(id)} ${reason}. Use another token, or the one of the configuration`)

/**
 * The refusal of a request to a space, or to all without one, that is beyond the spaces of a token; `undefined` otherwise.
 */
export const beyondSpaces = (token: Token, space: string | undefined): AccessRefused | undefined => {
  const { spaces } = token
  if (spaces === undefined || (space !== undefined && spaces.includes(space))) return undefined
  const reason = space === undefined ? "is for some spaces, and this request is for all" : `is not for space ${quoted(space)}`
  return refused(token, "space", reason)
}

/**
 * The refusal of a request; `undefined` if the token may send it.
 *
 * A token with prefixes reads the cells at and below them. The address of a signal is in its body, so the view of its space decides
 * on it. A token with a clearance or with one scope of cells uses the endpoints of readers.
 */
export const refusalOf = (token: Token, { access, verb }: Rule, { cell, space }: Place): AccessRefused | undefined => {
  if (access === "anyone" || access === "holder") return undefined
  const { clearance, prefixes, scope, verbs } = token
  const refuse = (code: Part, reason: string) => refused(token, code, reason)
  // The Worker in front knows the space of a path, and not its endpoint.
  const beyond = beyondSpaces(token, space)
  if (beyond !== undefined) return beyond
  if (!verbs.includes(verb)) return refuse("verb", `lacks the verb "${verb}"`)
  const isOfReaders = access === "reader"
  if (clearance !== undefined && !isOfReaders) return refuse("clearance", "has a clearance, and this request has no view for one")
  if (scope !== undefined && !isOfReaders) return refuse("prefix", "is for one scope of cells, and this request is for the space")
  if (prefixes === undefined || (isOfReaders && verb === "signal")) return undefined
  if (isOfReaders && cell !== undefined && isCovered(prefixes, cell)) return undefined
  return refuse("prefix", cell === undefined ? "is for some addresses, and this request is for the space" : `is not for ${quoted(cell)}`)
}

/**
 * Whether a request of a token is answered from a view of its space: by addresses, by labels, or without the signals of the runtime.
 */
export const isViewed = (token: Token, isSignal: boolean): boolean =>
  isNarrow(token) || (isSignal && !(token.verbs.includes("read") && token.verbs.includes("operate")))

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
