/**
 * Failures: the outcome that an error stands for.
 *
 * @module
 */
import { isTagged } from "../registry/Outcome.ts"
import type { Outcome } from "./Flight.ts"

/** The outcome that an error stands for. What is thrown may be anything, and looking at it may throw again. */
export const failure = (error: unknown): Outcome => {
  try {
    return describe(error)
  } catch {
    return { kind: "dead", tag: "Defect", code: "run/failed", message: "what the run threw cannot be read" }
  }
}

const describe = (error: unknown): Outcome => {
  const kind = isTagged(error, "Retry") ? "retry" : isTagged(error, "Fatal") ? "fatal" : "dead"
  return { kind, tag: tagOf(error), code: codeOf(error), message: messageOf(error) }
}

/** The errors of the language, whose names are the same on every host; a host's own errors are not. */
const NATIVE: ReadonlySet<string> = new Set(["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"])

/** Tags and codes are hashed, so they are short plain names, and only from what an author tagged: hosts put names and codes of their own into what they throw. */
const tagOf = (error: unknown): string => {
  const { _tag, name } = membersOf(error)
  return plain(_tag) ?? (typeof name === "string" && NATIVE.has(name) ? name : "Defect")
}

const codeOf = (error: unknown): string => {
  const { _tag, code } = membersOf(error)
  return (typeof _tag === "string" ? plain(code) : undefined) ?? "run/failed"
}

const membersOf = (error: unknown): { readonly _tag?: unknown; readonly name?: unknown; readonly code?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

const plain = (text: unknown): string | undefined => typeof text === "string" && /^[\w./:-]{1,128}$/.test(text) ? text : undefined

/** What an error says, whatever was thrown. */
export const messageOf = (error: unknown): string =>
  String((error as { readonly message?: unknown } | null)?.message ?? error).slice(0, 2000)
