/**
 * Commands: requests from outside to a ledger, as plain data.
 *
 * The executing beat journals a command, so it is JSON, with one value stored as a
 * document. All ledgers share this form and its codec.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"

/** A request to a ledger: a verb, its arguments as JSON, and a value as a document. */
export interface Command {
  readonly verb: string
  readonly value?: Document.Document | undefined
}

/** A command in a journal entry: its ledger, its verb and arguments, and a list with its value, if it has one. */
export type CommandLine = readonly [ledger: string, command: Omit<Command, "value">, value: readonly [unknown?]]

/**
 * A command as JSON text, a {@link CommandLine}.
 */
export const encode = (ledger: string, { value, ...command }: Command): string =>
  `["${ledger}",${JSON.stringify(command)},[${value?.text ?? ""}]]`

/**
 * A command from its line.
 */
export const decode = ([, command, [value]]: CommandLine): Command =>
  ({ ...command, value: value === undefined ? undefined : Document.decode(JSON.stringify(value)) })

/**
 * The size of a queued command, in characters.
 */
export const size = (command: Command): number =>
  JSON.stringify({ ...command, value: undefined }).length + (command.value?.text.length ?? 0)
