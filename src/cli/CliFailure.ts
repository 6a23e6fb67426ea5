/**
 * Failures of the command line, and their exit codes.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Refusal from "../contract/Refusal.ts"
import type { CodePlace } from "../diagnostic/CodePlace.ts"

/** The exit codes of the command line. */
export const exits = {
  /** The command succeeded. */
  ok: 0,
  /** The request failed or was refused. */
  failed: 1,
  /** The command line or the project is invalid. */
  usage: 2,
  /** The named space, cell or record does not exist. */
  absent: 3,
  /** The server or the store is unreachable, locked or busy. A retry may succeed. */
  unreachable: 4,
  /** The signal is accepted but was not handled before the time-out, or a cell has not settled by then. */
  pending: 5,
  /** A beat cannot be replayed, because its code is absent or its journal was pruned. */
  impossible: 6,
  /** The journal was changed, or a replayed beat differs from its entry. */
  differs: 7
} as const

/**
 * A command failed.
 */
export class CliFailure extends Data.TaggedError("CliFailure")<{
  readonly exit: number
  readonly code: string
  readonly message: string
  /** The places in the code of the project that the message names, with their source lines. */
  readonly places?: ReadonlyArray<CodePlace> | undefined
}> {}

/**
 * Converts a failure with a stable code to a failure of the command line.
 */
export const from = ({ code, message, places }: Pick<CliFailure, "code" | "message" | "places">): CliFailure =>
  new CliFailure({ exit: exitOf(code), code, message, places })

/** The exit codes of the kinds of refusals. All others failed. */
const byKind: Partial<Record<Refusal.Kind, number>> = {
  invalid: exits.usage,
  unfit: exits.usage,
  ambiguous: exits.usage,
  absent: exits.absent,
  full: exits.unreachable,
  unavailable: exits.unreachable,
  held: exits.pending
}

/** The kinds of the codes that no answer of a server has. One that ends with `absent` is of that kind. */
const own: ReadonlyMap<string, Refusal.Kind> = new Map([
  ["agent/file-damaged", "invalid"],
  ["agent/file-encoding", "invalid"],
  ["agent/locked", "unavailable"],
  ["config/invalid", "invalid"],
  ["module/broken", "invalid"],
  ["server/running", "unavailable"],
  ["server/timeout", "unavailable"],
  ["server/unreachable", "unavailable"]
])

/**
 * The exit code of a failure's stable code.
 */
export const exitOf = (code: string): number => {
  const kind = Refusal.kindOf(code) ?? own.get(code) ?? (code.endsWith("absent") ? "absent" : undefined)
  return kind === undefined ? exits.failed : byKind[kind] ?? exits.failed
}
