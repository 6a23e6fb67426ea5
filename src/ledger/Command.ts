/**
 * Commands: requests from outside to a ledger, as plain data.
 *
 * A command is journaled by the beat that did it, so it is JSON, beside one value
 * that is kept as a document. All ledgers share this shape, and so one codec.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"

/** A request to a ledger: a verb, its arguments as JSON, and a value as it is kept. */
export interface Command {
  readonly verb: string
  readonly value?: Document.Document | undefined
}

/** A command in a journal entry: its ledger, its verb and arguments, and its value in a list that may be empty. */
export type CommandLine = readonly [ledger: string, command: Omit<Command, "value">, value: readonly [unknown?]]

/**
 * A command as JSON text, a {@link CommandLine}.
 *
 * @category getters
 * @since 0.1.0
 */
export const encode = (ledger: string, { value, ...command }: Command): string =>
  `["${ledger}",${JSON.stringify(command)},[${value?.text ?? ""}]]`

/**
 * A command from its line.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = ([, command, [value]]: CommandLine): Command =>
  ({ ...command, value: value === undefined ? undefined : Document.decode(JSON.stringify(value)) })

/**
 * The size of a command while it waits, in characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const size = (command: Command): number =>
  JSON.stringify({ ...command, value: undefined }).length + (command.value?.text.length ?? 0)
