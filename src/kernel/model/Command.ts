/**
 * Commands: control input, by which the outside acts on a space without a signal.
 *
 * A command is plain data. It is captured by a beat like all other input, and
 * done in the capture transaction, before any run. One table holds its codec;
 * that of `beat/CommandExecutor.ts` holds its execution. (Architecture, section 1.1.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import * as Name from "../../cell/Name.ts"
import * as LedgerCommands from "../../ledger/Command.ts"
import type { Refusal } from "../../ledger/LedgerError.ts"
import type { LedgerList } from "../../ledger/LedgerList.ts"
import * as Bindings from "../../registry/Bindings.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import type { Write } from "../../stage/Write.ts"
import type { SentSince } from "./Dossiers.ts"
import type * as Foreign from "./Foreign.ts"
import type { Regime, Verb } from "./Regime.ts"
import { size } from "./Signal.ts"
import { ControlRefused, WriteRefused } from "./SpaceError.ts"

/** The beat that did a command, once that is durable, and the reply. */
export interface Done<Reply = unknown> {
  readonly beat: number
  readonly reply: Reply
}

/** The end of a command: it was done, or refused. */
export type Answer = (answer: Done | Refusal) => void

/** A command that waits for its beat. */
export interface Queued {
  readonly command: Command
  readonly answer: Answer
}

/**
 * One piece of control input.
 *
 * @category models
 * @since 0.1.0
 */
export type Command = Setting | Integration | BindCommand | Redelivery | PieceCommand | LifecycleCommand | Cutover | Locking | LedgerCommand

/** A cell that is written. */
export interface Setting {
  readonly kind: "set"
  readonly write: Write & { readonly kind: "set" }
  /** Who watches under the same group does not hear of it. */
  readonly group: string | undefined
}

/** Changes by another writer. */
export interface Integration {
  readonly kind: "integrate"
  readonly notice: Foreign.Notice
}

/** A change of the bindings of a cell. */
export interface BindCommand {
  readonly kind: "bind"
  readonly change: BindingChange
}

/** A dead letter that is sent again: it is deleted, and its handling runs anew. */
export interface Redelivery {
  readonly kind: "redeliver"
  readonly id: string
  readonly enzyme: string
}

/** A piece that is started or stopped. The reply to a start is its name. */
export interface PieceCommand {
  readonly kind: "piece"
  readonly ask:
    | { readonly verb: "start"; readonly module: string; readonly inputs: Document }
    | { readonly verb: "stop"; readonly name: string }
}

/** A request to the space as a whole. The reply is the id of the operation that was begun, or a refusal that is a fact of the space. */
export interface LifecycleCommand {
  readonly kind: "steer"
  readonly verb: Verb
  /** For a rollback: the beat to go back to. */
  readonly to: number | undefined
}

/** The end of a rollback's plan: the documents as they were, or why that cannot be told any more. */
export interface Cutover {
  readonly kind: "cutover"
  readonly writes: ReadonlyArray<readonly [key: string, document: Document | undefined]>
  readonly sent: SentSince
  readonly lost: string | undefined
}

/** A cell that is locked or unlocked from outside. */
export interface Locking {
  readonly kind: "lock"
  readonly cell: string
  readonly on: boolean
}

/** A request to a ledger. The reply is the ledger's. */
export interface LedgerCommand {
  readonly kind: "ledger"
  readonly ledger: string
  readonly command: LedgerCommands.Command
}

/** Where the letter of a handling lies. */
export const letterPlace = (id: string, enzyme: string): string => `/rt/dead/${id}/${enzyme}`

/**
 * A change of the bindings of a cell.
 *
 * @throws InvalidAddress, WriteRefused
 * @category constructors
 * @since 0.1.0
 */
export const binding = (change: BindingChange): BindCommand => {
  const { cell, enzyme } = change
  const names = Name.split(cell)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
  // The list lies in a document of its own, whose address has to be one, too.
  Address.parse(Bindings.address(cell).text)
  const unnamable = Name.refusal(enzyme)
  if (unnamable !== undefined) throw new WriteRefused({ address: cell, reason: `"${enzyme}" names no enzyme: ${unnamable}` })
  return { kind: "bind", change }
}

/**
 * Why a space does not do a command as it stands, where it was shut down: an effect that waits for later beats would wait
 * for a restart. A command whose effect is complete with its beat is done.
 *
 * @category getters
 * @since 0.1.0
 */
export const refusal = (command: Command, { halted }: Pick<Regime, "halted">, ledgers: LedgerList): ControlRefused | undefined => {
  const verb = halted ? goingOn(command, ledgers) : undefined
  return verb === undefined ? undefined : new ControlRefused({ verb, reason: "it was shut down, and does nothing until it is restarted" })
}

const goingOn = (command: Command, ledgers: LedgerList): string | undefined => {
  if (command.kind === "redeliver") return command.kind
  if (command.kind !== "ledger") return undefined
  const { command: { verb }, ledger } = command
  return ledgers.named(ledger)?.ledger.commands[verb]?.runsWhileHalted === false ? `${ledger} ${verb}` : undefined
}

/** A value that was written from outside, and where. */
export type Written = readonly [key: string, pointer: string, value: readonly [unknown?]]

/** One command of the kernel in a journal entry. */
type KernelLine =
  | readonly ["set", ...Written, group?: string]
  | { [Kind in Foreign.Foreign["kind"]]: readonly [Kind, changes: ReadonlyArray<Written>, group?: string] }[Foreign.Foreign["kind"]]
  | readonly ["bind", change: BindingChange]
  | readonly ["steer", verb: Verb, to?: number]
  | readonly ["lock", cell: string, on: boolean]
  | readonly ["cutover", lost: string | 0, sent: SentSince, writes: ReadonlyArray<readonly [key: string, value: readonly [unknown?]]>]
  | readonly ["redeliver", id: string, enzyme: string]
  | readonly ["start", module: string, inputs: readonly [unknown]]
  | readonly ["stop", piece: string]

/** One command in a journal entry. */
export type CommandLine = KernelLine | LedgerCommands.CommandLine

/** How commands of a kind are journaled, and what they cost while they wait, in characters. */
interface Rule<C extends Command> {
  encode(command: C): string
  size(command: C): number
}

const written = ({ address, document }: Setting["write"]): string =>
  `${JSON.stringify(address.key)},${JSON.stringify(Address.pointer(address.path))},[${document?.text ?? ""}]`

/** The group of a write behind its value, where it has one. */
const grouped = (group: string | undefined): string => group === undefined ? "" : `,"${group}"`

const sizeOfWrite = ({ address, document }: Setting["write"]): number =>
  size({ signal: undefined, target: address.text, payload: document })

/** The cost of a command that names little. */
const small = ({ kind }: Command): number => size({ signal: kind, target: undefined, payload: undefined })

const rules: { readonly [Kind in Command["kind"]]: Rule<Extract<Command, { readonly kind: Kind }>> } = {
  set: {
    encode: ({ group, write }) => `["set",${written(write)}${grouped(group)}]`,
    size: ({ write }) => sizeOfWrite(write)
  },
  integrate: {
    encode: ({ notice: { group, kind, writes } }) =>
      `["${kind}",[${writes.map((write) => `[${written(write)}]`).join()}]${grouped(group)}]`,
    size: ({ notice }) => notice.writes.reduce((sum, write) => sum + sizeOfWrite(write), 0)
  },
  bind: {
    encode: ({ change }) => JSON.stringify(["bind", change]),
    size: ({ change }) => size({ signal: change.cell, target: change.enzyme, payload: undefined })
  },
  redeliver: {
    encode: ({ enzyme, id }) => JSON.stringify(["redeliver", id, enzyme]),
    size: ({ enzyme, id }) => size({ signal: undefined, target: letterPlace(id, enzyme), payload: undefined })
  },
  piece: {
    encode: ({ ask }) =>
      ask.verb === "stop" ? JSON.stringify(["stop", ask.name]) : `["start",${JSON.stringify(ask.module)},[${ask.inputs.text}]]`,
    size: ({ ask }) =>
      ask.verb === "start"
        ? size({ signal: undefined, target: ask.module, payload: ask.inputs })
        : size({ signal: undefined, target: ask.name, payload: undefined })
  },
  steer: {
    encode: ({ to, verb }) => JSON.stringify(["steer", verb, ...to === undefined ? [] : [to]]),
    size: small
  },
  cutover: {
    encode: ({ lost, sent, writes }) => {
      const lines = writes.map(([key, document]) => `["${key}",[${document?.text ?? ""}]]`)
      return `["cutover",${JSON.stringify(lost ?? 0)},${JSON.stringify(sent)},[${lines.join()}]]`
    },
    size: small
  },
  lock: {
    encode: ({ cell, on }) => JSON.stringify(["lock", cell, on]),
    size: small
  },
  ledger: {
    encode: ({ command, ledger }) => LedgerCommands.encode(ledger, command),
    size: ({ command }) => LedgerCommands.size(command)
  }
}

const ruleOf = ({ kind }: Command): Rule<Command> => rules[kind]

/**
 * A command as JSON text, a {@link CommandLine}.
 *
 * @category getters
 * @since 0.1.0
 */
export const encode = (command: Command): string => ruleOf(command).encode(command)

/**
 * The cost of a command while it waits, in characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const sizeOf = (command: Command): number => ruleOf(command).size(command)

const document = (value: unknown): Document | undefined => value === undefined ? undefined : Codec.decode(JSON.stringify(value))

const setting = ([key, pointer, [value]]: Written): Setting["write"] =>
  ({ kind: "set", address: Address.parse(`${key}#${pointer}`), document: document(value) })

type ForeignLine = Extract<KernelLine, readonly [Foreign.Foreign["kind"], ...ReadonlyArray<unknown>]>

const integration = ([kind, writes, group]: ForeignLine): Integration =>
  ({ kind: "integrate", notice: { kind, writes: writes.map(setting), group } })

const decoders: { readonly [Tag in KernelLine[0]]: (line: Extract<KernelLine, readonly [Tag, ...ReadonlyArray<unknown>]>) => Command } = {
  set: ([, key, pointer, value, group]) => ({ kind: "set", write: setting([key, pointer, value]), group }),
  pull: integration,
  integrate: integration,
  revert: integration,
  bind: ([, change]) => ({ kind: "bind", change }),
  steer: ([, verb, to]) => ({ kind: "steer", verb, to }),
  lock: ([, cell, on]) => ({ kind: "lock", cell, on }),
  cutover: ([, lost, sent, writes]) => ({
    kind: "cutover",
    lost: lost === 0 ? undefined : lost,
    sent,
    writes: writes.map(([key, [value]]) => [key, document(value)] as const)
  }),
  redeliver: ([, id, enzyme]) => ({ kind: "redeliver", id, enzyme }),
  start: ([, module, [inputs]]) => ({ kind: "piece", ask: { verb: "start", module, inputs: Codec.decode(JSON.stringify(inputs)) } }),
  stop: ([, name]) => ({ kind: "piece", ask: { verb: "stop", name } })
}

/**
 * A command from its line in a journal entry; one that is none of the kernel's is a ledger's.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (line: CommandLine): Command => {
  const decoder = (decoders as Readonly<Record<string, ((line: CommandLine) => Command) | undefined>>)[line[0]]
  if (decoder !== undefined) return decoder(line)
  return { kind: "ledger", ledger: line[0], command: LedgerCommands.decode(line as LedgerCommands.CommandLine) }
}
