/**
 * Accidents: failures outside of all beats, as facts.
 *
 * @module
 */
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Diagnostic from "./Diagnostic.ts"
import type { Told } from "./Reporter.ts"
import type { Topic } from "./Topic.ts"

/** Failures whose stable codes are topics: they are told by errors of floors above. */
const named: ReadonlySet<unknown> = new Set<Topic>(["module/broken", "space/stopped"])

/**
 * The fact that a failure is: trouble with a store, what has a topic of its own, or what nobody expects.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (failure: unknown): Told => {
  const { code, message, space } = membersOf(failure)
  const around = { origin: { kind: "runtime", name: "host" }, subject: undefined } as const
  const rest = { space: typeof space === "string" ? space : undefined, beat: undefined, cause: failure }
  if (failure instanceof PersistenceError) return { ...Diagnostic.of("store/trouble", { ...around, code: failure.code, note: failure.message }), ...rest }
  if (named.has(code)) return { ...Diagnostic.of(code as Topic, { ...around, note: String(message) }), ...rest }
  return { ...Diagnostic.of("runtime/accident", { ...around, note: noteOf(failure) }), ...rest }
}

/**
 * The fact that something failed on behalf of a space, after its beats.
 *
 * @category constructors
 * @since 0.1.0
 */
export const after = (topic: Topic, cause: unknown, { origin, space, what }: { readonly space: string; readonly origin: Diagnostic.Origin; readonly what: string }): Told =>
  ({ ...Diagnostic.of(topic, { note: `${what}: ${noteOf(cause)}`, origin, subject: undefined }), space, beat: undefined, cause })

const membersOf = (failure: unknown): { readonly code?: unknown; readonly message?: unknown; readonly space?: unknown } =>
  typeof failure === "object" && failure !== null ? failure : {}

/** What is thrown may be anything, and looking at it may throw again. */
const noteOf = (failure: unknown): string => {
  try {
    return failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure)
  } catch {
    return "what was thrown cannot be read"
  }
}
