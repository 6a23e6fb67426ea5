/**
 * Accidents: failures outside of all beats, as facts.
 *
 * @module
 */
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Diagnostic from "./Diagnostic.ts"
import type { Told } from "./Reporter.ts"

/** The stable code of a space that stopped, by whatever floor it is told. */
const STOPPED = "space/stopped"

/**
 * The fact that a failure is: trouble with a store, a space that stopped, or what nobody expects.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (failure: unknown): Told => {
  const { code, message, name, space } = membersOf(failure)
  const around = { origin: { kind: "runtime", name: "host" }, subject: undefined } as const
  const rest = { space: typeof space === "string" ? space : undefined, beat: undefined, cause: failure }
  if (failure instanceof PersistenceError) return { ...Diagnostic.of("store/trouble", { ...around, code: failure.code, note: failure.message }), ...rest }
  if (code === STOPPED) return { ...Diagnostic.of("space/stopped", { ...around, note: String(message) }), ...rest }
  return { ...Diagnostic.of("runtime/accident", { ...around, note: failure instanceof Error ? `${String(name)}: ${String(message)}` : describe(failure) }), ...rest }
}

const membersOf = (failure: unknown): { readonly code?: unknown; readonly message?: unknown; readonly name?: unknown; readonly space?: unknown } =>
  typeof failure === "object" && failure !== null ? failure : {}

/** What is thrown may be anything, and looking at it may throw again. */
const describe = (failure: unknown): string => {
  try {
    return String(failure)
  } catch {
    return "what was thrown cannot be read"
  }
}
