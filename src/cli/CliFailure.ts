/**
 * How the command line fails: with a message and an exit code that means something.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/** What the exit codes of the command line mean. */
export const exits = {
  /** All went well. */
  ok: 0,
  /** What was asked for failed or was refused. */
  failed: 1,
  /** The command line or the project is not right. */
  usage: 2,
  /** There is no such thing. */
  absent: 3,
  /** The server or the store cannot be reached, is locked or busy: try again. */
  unreachable: 4,
  /** It is accepted, and not done in the time that was waited; or a cell is not settled by then. */
  pending: 5,
  /** What is asked for cannot be run again: its code is not there, or its journal is not any more. */
  impossible: 6,
  /** The journal is not what was written, or a beat does not come out the same. */
  differs: 7
} as const

/**
 * A command failed.
 *
 * @category errors
 * @since 0.1.0
 */
export class CliFailure extends Schema.TaggedError<CliFailure>()("CliFailure", {
  exit: Schema.Int,
  code: Schema.String,
  message: Schema.String
}) {}

/**
 * The failure that another one is to whoever typed the command.
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = (error: { readonly code: string; readonly message: string }): CliFailure =>
  new CliFailure({ exit: exitOf(error.code), code: error.code, message: error.message })

/**
 * The exit code for a failure's stable code.
 *
 * @category getters
 * @since 0.1.0
 */
export const exitOf = (code: string): number => {
  if (usage.has(code)) return exits.usage
  if (code.endsWith("/absent") || code === "space/unknown" || code === "flow/unknown") return exits.absent
  if (unreachable.has(code)) return exits.unreachable
  if (code === "cell/held") return exits.pending
  return exits.failed
}

const usage = new Set(["address/invalid", "config/invalid", "module/broken", "query/invalid", "signal/invalid", "space/name"])
const unreachable = new Set(["history/busy", "inbox/full", "server/running", "server/unreachable", "space/stopped", "store/locked", "watch/full"])
