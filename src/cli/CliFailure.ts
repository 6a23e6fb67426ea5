/**
 * Failures of the command line, and their exit codes.
 *
 * @module
 */
import * as Data from "effect/Data"

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
 *
 * @category errors
 * @since 0.1.0
 */
export class CliFailure extends Data.TaggedError("CliFailure")<{
  readonly exit: number
  readonly code: string
  readonly message: string
}> {}

/**
 * Converts a failure with a stable code to a failure of the command line.
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = (error: { readonly code: string; readonly message: string }): CliFailure =>
  new CliFailure({ exit: exitOf(error.code), code: error.code, message: error.message })

/**
 * The exit code of a failure's stable code.
 *
 * @category getters
 * @since 0.1.0
 */
export const exitOf = (code: string): number => {
  if (usage.has(code)) return exits.usage
  if (code.endsWith("absent") || code === "space/unknown" || code === "flow/unknown") return exits.absent
  if (unreachable.has(code)) return exits.unreachable
  if (code === "cell/held") return exits.pending
  return exits.failed
}

const usage = new Set([
  "address/invalid", "agent/file-damaged", "agent/file-encoding", "config/invalid", "module/broken", "query/invalid",
  "signal/invalid", "space/name"
])
const unreachable = new Set([
  "agent/locked", "history/busy", "inbox/full", "server/running", "server/timeout", "server/unreachable", "space/stopped",
  "store/busy", "store/locked", "watch/full"
])
