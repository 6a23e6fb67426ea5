/**
 * Diagnostics of failures that occur outside a beat.
 *
 * @module
 */
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Diagnostic from "./Diagnostic.ts"
import type { Told } from "./Reporter.ts"
import { type Topic, TOPIC } from "./Topic.ts"

/**
 * Converts a failure into a diagnostic: a store error, an error with a topic of its own, or an unexpected failure.
 */
export const of = (failure: unknown): Told => {
  const { [TOPIC]: topic, message, space } = membersOf(failure)
  const host = { origin: { kind: "runtime", name: "host" }, subject: undefined } as const
  const rest = { space: typeof space === "string" ? space : undefined, beat: undefined, cause: failure }
  if (failure instanceof PersistenceError) {
    return { ...Diagnostic.of("store/trouble", { ...host, code: failure.code, note: failure.message }), ...rest }
  }
  if (topic !== undefined) return { ...Diagnostic.of(topic, { ...host, note: String(message) }), ...rest }
  return { ...Diagnostic.of("runtime/accident", { ...host, note: noteOf(failure) }), ...rest }
}

/**
 * Creates the diagnostic of a failure on behalf of a space, outside its beats.
 */
export const after = (
  topic: Topic,
  cause: unknown,
  { origin, space, what }: { readonly space: string; readonly origin: Diagnostic.Origin; readonly what: string }
): Told =>
  ({ ...Diagnostic.of(topic, { note: `${what}: ${noteOf(cause)}`, origin, subject: undefined }), space, beat: undefined, cause })

/** The members of a failure. Only the runtime's own errors have a topic, whatever code a thrown value names. */
interface Members {
  readonly message?: unknown
  readonly space?: unknown
  readonly [TOPIC]?: Topic
}

const membersOf = (failure: unknown): Members =>
  typeof failure === "object" && failure !== null ? failure : {}

/** A thrown value can be of any type, and reading its properties may throw again. */
const noteOf = (failure: unknown): string => {
  try {
    return failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure)
  } catch {
    return "what was thrown cannot be read"
  }
}
