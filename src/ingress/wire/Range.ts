/**
 * Range requests (RFC 9110, section 14).
 *
 * @module
 */
import type { Span } from "./Transfers.ts"

/** The representation whose range a request asks for. */
export interface Whole {
  /** Its strong entity tag. */
  readonly etag: string
  /** Its size in bytes. */
  readonly size: number
}

/**
 * The range that a request asks for; `undefined` for the whole representation.
 *
 * Multiple ranges, other units and a mismatching `if-range` select the whole, as the RFC allows.
 */
export const spanIn = ({ headers, method }: Request, { etag, size }: Whole): Span | "unsatisfiable" | undefined => {
  const match = /^\s{0,9}bytes\s{0,9}=\s{0,9}(\d*)\s{0,9}-\s{0,9}(\d*)\s{0,9}$/i.exec(headers.get("range") ?? "")
  if (match === null || method !== "GET") return undefined
  const condition = headers.get("if-range")
  if (condition !== null && condition.trim() !== etag) return undefined
  const [, first = "", last = ""] = match
  if (first === "") return last === "" ? undefined : suffix(Number(last), size)
  const from = Number(first)
  const to = last === "" ? Infinity : Number(last)
  if (from > to) return undefined
  return from >= size ? "unsatisfiable" : { from, to: Math.min(to, size - 1) }
}

const suffix = (length: number, size: number): Span | "unsatisfiable" =>
  length === 0 || size === 0 ? "unsatisfiable" : { from: Math.max(0, size - length), to: size - 1 }
