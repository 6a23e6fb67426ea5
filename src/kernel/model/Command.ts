/**
 * Commands: control input, by which callers act on a space without a signal.
 *
 * A command is plain data. A beat captures it like all other input, and executes
 * it in the capture transaction, before any run. This module's table holds its
 * codec; `beat/CommandExecutor.ts` holds its execution.
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
import type { Write } from "../../stage/write/Write.ts"
import type { SentSince } from "../../operation/DossierView.ts"
import type { AbsentContent } from "./Arrived.ts"
import type { Condition } from "./Condition.ts"
import type * as ExternalChange from "./ExternalChange.ts"
import type * as SchedulePlan from "./SchedulePlan.ts"
import type { Detached, Drop, SpaceMode, Verb } from "./SpaceMode.ts"
import { size } from "./Signal.ts"
import { ControlRefused, WriteRefused } from "./SpaceError.ts"

/** The beat that executed a command, once durable, and the reply. */
export interface Done<Reply = unknown> {
  readonly beat: number
  readonly reply: Reply
}

/** Called when a command ends: executed or refused. */
export type Answer = (answer: Done | Refusal) => void

/** A queued command. */
export interface QueuedCommand {
  readonly command: Command
  readonly answer: Answer
}

/**
 * One item of control input.
 */
export type Command =
  | Setting | Integration | BindCommand | Redelivery | PieceCommand | LifecycleCommand | Cutover | LossNote | ClockCommand | LockChange
  | SchedulePlan.ScheduleCommand | LedgerCommand | Arrival | Release

/** A write to a cell. */
export interface Setting {
  readonly kind: "set"
  readonly write: Write & { readonly kind: "set" }
  /** Watchers under the same group are not notified. */
  readonly group: string | undefined
  /** The value at the address must meet it, or the write is refused. */
  readonly condition?: Condition | undefined
}

/** Changes by another writer. */
export interface Integration {
  readonly kind: "integrate"
  readonly notice: ExternalChange.Notice
}

/** A change of a cell's bindings. */
export interface BindCommand {
  readonly kind: "bind"
  readonly change: BindingChange
}

/** The redelivery of a dead letter: it is deleted, and its handling runs again. */
export interface Redelivery {
  readonly kind: "redeliver"
  readonly id: string
  readonly enzyme: string
  /** Whether a durable run starts over, with other idempotency keys. */
  readonly anew?: boolean | undefined
}

/** The start or stop of a piece. The reply to a start is its name. */
export interface PieceCommand {
  readonly kind: "piece"
  readonly ask:
    | { readonly verb: "start"; readonly module: string; readonly inputs: Document }
    | { readonly verb: "stop"; readonly name: string }
}

/** A lifecycle request. The reply is the id of its operation, or a refusal caused by the state of the space. */
export interface LifecycleCommand {
  readonly kind: "steer"
  readonly verb: Verb
  /** For a rollback: the target beat. */
  readonly to: number | undefined
  /** For the boot of a new space: the incarnation that begins with it. */
  readonly born?: string | undefined
}

/** The names of records of ledgers that changed since a beat, by ledger. */
export type ChangedRecords = Readonly<Record<string, ReadonlyArray<string>>>

/** The end of a rollback's plan: the restored documents, or the reason why they cannot be restored. */
export interface Cutover {
  readonly kind: "cutover"
  readonly writes: ReadonlyArray<readonly [key: string, document: Document | undefined]>
  readonly sent: SentSince
  readonly records: ChangedRecords
  readonly lost: string | undefined
}

/** The topics of a loss. */
export type LossTopic = "persist.async.tmo" | "persist.flush.fail"

/** The note of a failed flush, and of the beats that it lost, from the first to the last. */
export interface LossNote {
  readonly kind: "lost"
  readonly topic: LossTopic
  /** The code of the failure. */
  readonly code: string
  readonly beats: readonly [first: number, last: number] | readonly []
}

/**
 * A change of the clock: `ahead` of the host by `millis`, which the space itself noted; a jump or a sleep of `millis` since the
 * beat before; or a reset from outside. The reply to a reset is the offset that it took back.
 */
export interface ClockCommand {
  readonly kind: "clock"
  readonly verb: "ahead" | "jump" | "sleep" | "reset"
  /** 0 for a reset. */
  readonly millis: number
}

/** A lock or an unlock of a cell from outside. */
export interface LockChange {
  readonly kind: "lock"
  readonly cell: string
  readonly on: boolean
}

/** The arrival of an imported space, in its first beat: another incarnation begins, detached. */
export interface Arrival {
  readonly kind: "arrive"
  readonly born: string
  readonly detached: Detached
  /** The content that the space refers to and is without. */
  readonly absent?: AbsentContent | undefined
}

/** The end of a detachment. The reply to it is nothing, or a refusal. */
export interface Release {
  readonly kind: "release"
  /** The kinds of work that it drops; none unless given. */
  readonly drop?: ReadonlyArray<Drop> | undefined
  /** The number of the newest queued signal at the request. */
  readonly last?: number | undefined
}

/** A request to a ledger, which determines the reply. */
export interface LedgerCommand {
  readonly kind: "ledger"
  readonly ledger: string
  readonly command: LedgerCommands.Command
}

/** The cell of a handling's dead letter. */
export const letterPlace = (id: string, enzyme: string): string => `/rt/dead/${id}/${enzyme}`

/**
 * A change of a cell's bindings.
 *
 * @throws InvalidAddress, WriteRefused
 */
export const binding = (change: BindingChange): BindCommand => {
  const { cell, enzyme } = change
  const names = Name.split(cell)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
  // The bindings are a document of their own, so its address must be valid too.
  Address.parse(Bindings.address(cell).text)
  const unnamable = Name.refusal(enzyme)
  if (unnamable !== undefined) throw new WriteRefused({ address: cell, reason: `"${enzyme}" names no enzyme: ${unnamable}` })
  return { kind: "bind", change }
}

/**
 * The reason why a space that was shut down refuses a command. It refuses commands with an effect in later beats, which
 * would wait for a restart. A command that completes within its beat is executed.
 */
export const refusal = (command: Command, { halted }: Pick<SpaceMode, "halted">, ledgers: LedgerList): ControlRefused | undefined => {
  const verb = halted ? goingOn(command, ledgers) : undefined
  return verb === undefined ? undefined : new ControlRefused({ verb, reason: "it was shut down, and does nothing until it is restarted" })
}

const goingOn = (command: Command, ledgers: LedgerList): string | undefined => {
  if (command.kind === "redeliver") return command.kind
  if (command.kind !== "ledger") return undefined
  const { command: { verb }, ledger } = command
  return ledgers.named(ledger)?.ledger.commands[verb]?.runsWhileHalted === false ? `${ledger} ${verb}` : undefined
}

/** A value written from outside, with its address. */
export type Written = readonly [key: string, pointer: string, value: readonly [unknown?]]

type ExternalKind = ExternalChange.ExternalChange["kind"]

/** A restored document in a journal entry. */
type RestoredLine = readonly [key: string, value: readonly [unknown?]]

/** A kernel command in a journal entry. */
type KernelLine =
  | readonly ["set", ...Written, group?: string | null, condition?: Condition]
  | { [Kind in ExternalKind]: readonly [Kind, changes: ReadonlyArray<Written>, group?: string] }[ExternalKind]
  | readonly ["bind", change: BindingChange]
  | readonly ["steer", verb: Verb, of?: number | string]
  | readonly ["lock", cell: string, on: boolean]
  | readonly ["cutover", lost: string | 0, sent: SentSince, writes: ReadonlyArray<RestoredLine>, records?: ChangedRecords]
  | readonly ["clock", verb: ClockCommand["verb"], millis: number]
  | readonly ["schedule", enzyme: string, plan: SchedulePlan.SchedulePlan | 0, event?: SchedulePlan.DueEvent]
  | readonly ["arrive", born: string, detached: Detached, absent?: AbsentContent]
  | readonly ["release", drop?: ReadonlyArray<Drop>, last?: number]
  | readonly ["lost", topic: LossTopic, code: string, ...beats: LossNote["beats"]]
  | readonly ["redeliver", id: string, enzyme: string, anew?: true]
  | readonly ["start", module: string, inputs: readonly [unknown]]
  | readonly ["stop", piece: string]

/** A command in a journal entry. */
export type CommandLine = KernelLine | LedgerCommands.CommandLine

/** The codec of a kind of command, and its size in a queue, in characters. */
interface Rule<C extends Command> {
  encode(command: C): string
  size(command: C): number
}

const written = ({ address, document }: Setting["write"]): string =>
  `${JSON.stringify(address.key)},${JSON.stringify(Address.pointer(address.path))},[${document?.text ?? ""}]`

/** The group of a write, appended to its value if there is one. */
const grouped = (group: string | undefined): string => group === undefined ? "" : `,"${group}"`

const sizeOfWrite = ({ address, document }: Setting["write"]): number =>
  size({ signal: undefined, target: address.text, payload: document })

/** The size of a command without large fields. */
const small = ({ kind }: Command): number => size({ signal: kind, target: undefined, payload: undefined })

const rules: { readonly [Kind in Command["kind"]]: Rule<Extract<Command, { readonly kind: Kind }>> } = {
  set: {
    encode: ({ condition, group, write }) => {
      const rest = condition === undefined ? grouped(group) : `,${JSON.stringify(group ?? null)},${JSON.stringify(condition)}`
      return `["set",${written(write)}${rest}]`
    },
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
    encode: ({ anew, enzyme, id }) => JSON.stringify(["redeliver", id, enzyme, ...anew === true ? [true] : []]),
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
    encode: ({ born, to = born, verb }) => JSON.stringify(["steer", verb, ...to === undefined ? [] : [to]]),
    size: small
  },
  cutover: {
    encode: ({ lost, records, sent, writes }) => {
      const lines = writes.map(([key, document]) => `["${key}",[${document?.text ?? ""}]]`)
      const changed = Object.keys(records).length === 0 ? "" : `,${JSON.stringify(records)}`
      return `["cutover",${JSON.stringify(lost ?? 0)},${JSON.stringify(sent)},[${lines.join()}]${changed}]`
    },
    size: small
  },
  lost: {
    encode: ({ beats, code, topic }) => JSON.stringify(["lost", topic, code, ...beats]),
    size: small
  },
  clock: {
    encode: ({ millis, verb }) => JSON.stringify(["clock", verb, millis]),
    size: small
  },
  schedule: {
    encode: ({ enzyme, event, plan }) => JSON.stringify(["schedule", enzyme, plan ?? 0, ...event === undefined ? [] : [event]]),
    size: small
  },
  arrive: {
    encode: ({ absent, born, detached }) => JSON.stringify(["arrive", born, detached, ...absent === undefined ? [] : [absent]]),
    size: small
  },
  release: {
    encode: ({ drop = [], last }) => JSON.stringify(["release", ...drop.length === 0 ? [] : [drop, last]]),
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
 */
export const encode = (command: Command): string => ruleOf(command).encode(command)

/**
 * The size of a queued command, in characters.
 */
export const sizeOf = (command: Command): number => ruleOf(command).size(command)

const document = (value: unknown): Document | undefined => value === undefined ? undefined : Codec.decode(JSON.stringify(value))

const setting = ([key, pointer, [value]]: Written): Setting["write"] =>
  ({ kind: "set", address: Address.parse(`${key}#${pointer}`), document: document(value) })

type ExternalLine = Extract<KernelLine, readonly [ExternalKind, ...ReadonlyArray<unknown>]>

const integration = ([kind, writes, group]: ExternalLine): Integration =>
  ({ kind: "integrate", notice: { kind, writes: writes.map(setting), group } })

const decoders: { readonly [Tag in KernelLine[0]]: (line: Extract<KernelLine, readonly [Tag, ...ReadonlyArray<unknown>]>) => Command } = {
  set: ([, key, pointer, value, group, condition]) =>
    ({ kind: "set", write: setting([key, pointer, value]), group: group ?? undefined, ...condition === undefined ? {} : { condition } }),
  pull: integration,
  integrate: integration,
  revert: integration,
  bind: ([, change]) => ({ kind: "bind", change }),
  steer: ([, verb, of]) => typeof of === "string" ? { kind: "steer", verb, to: undefined, born: of } : { kind: "steer", verb, to: of },
  arrive: ([, born, detached, absent]) => ({ kind: "arrive", born, detached, ...absent === undefined ? {} : { absent } }),
  release: ([, drop, last]) => ({ kind: "release", ...drop === undefined ? {} : { drop, last } }),
  lock: ([, cell, on]) => ({ kind: "lock", cell, on }),
  cutover: ([, lost, sent, writes, records = {}]) => ({
    kind: "cutover",
    lost: lost === 0 ? undefined : lost,
    sent,
    records,
    writes: writes.map(([key, [value]]) => [key, document(value)] as const)
  }),
  lost: ([, topic, code, ...beats]) => ({ kind: "lost", topic, code, beats }),
  clock: ([, verb, millis]) => ({ kind: "clock", verb, millis }),
  schedule: ([, enzyme, plan, event]) => ({ kind: "schedule", enzyme, plan: plan === 0 ? undefined : plan, event }),
  redeliver: ([, id, enzyme, anew]) => ({ kind: "redeliver", id, enzyme, ...anew === undefined ? {} : { anew } }),
  start: ([, module, [inputs]]) => ({ kind: "piece", ask: { verb: "start", module, inputs: Codec.decode(JSON.stringify(inputs)) } }),
  stop: ([, name]) => ({ kind: "piece", ask: { verb: "stop", name } })
}

/**
 * A command from its line in a journal entry. A line of an unknown kind belongs to a ledger.
 */
export const decode = (line: CommandLine): Command => {
  const decoder = (decoders as Readonly<Record<string, ((line: CommandLine) => Command) | undefined>>)[line[0]]
  if (decoder !== undefined) return decoder(line)
  return { kind: "ledger", ledger: line[0], command: LedgerCommands.decode(line as LedgerCommands.CommandLine) }
}
