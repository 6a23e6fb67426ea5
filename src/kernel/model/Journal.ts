/**
 * The journal: one entry per beat, from which the state of a space can be rebuilt.
 *
 * An entry holds the captured input, the outcome of each run, the sent signals,
 * the changes with their texts before and after, and the digest of the previous
 * entry. Each fact is written once. A signal sent by a run is recorded there; the
 * beat that captures it names its id. Beat views, receipts and explanations derive
 * from the journal.
 *
 * The first line of a row is hashed. Engine-dependent text, the messages of
 * errors, follows on a second line.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as JsonParser from "../../cell/JsonParser.ts"
import type { Label } from "../../cell/Label.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import { byLine, type Standpoint } from "../../scheduler/Standpoint.ts"
import type { At, OutgoingSignal } from "../../stage/Launch.ts"
import { FOLDER as CONTENT } from "../../stage/Content.ts"
import * as Semantics from "../../stage/Semantics.ts"
import type { Staged } from "../../stage/Stage.ts"
import * as Commands from "./Command.ts"
import { type CapturedSignal, type Handling, isMerged, type Outcome } from "./InFlight.ts"
import type { ParkedNote } from "./Parked.ts"
import * as NodeLines from "./NodeLine.ts"
import type { NodeLine, NodeRunLine } from "./NodeLine.ts"
import type { Again, Heard } from "./Signal.ts"

/** A signal sent by the beat itself: to an enzyme that awaits an operation, or to all takers. */
export interface Sent {
  readonly id: string
  readonly signal: string
  readonly target: string | undefined
  /** The awaiting enzyme, if there is one. */
  readonly enzyme: string | undefined
  readonly payload: Document | undefined
}

/** A node in a report, and its output. The output of a refused node is omitted if another node has its name. */
export type NamedNode = readonly [name: string, output?: string]

/** An effect, and the total time of its runs in one beat, in whole milliseconds of the host. */
export type Spent = readonly [node: string, millis: number]

/** The records of one kind to expire. */
export interface Retired {
  readonly kind: string
  /** The newest expired clock; -1 if none expires by age. */
  readonly last: number
  /** The number of the oldest records to expire at any age. */
  readonly excess: number
}

/** Numbers of inputs or runs, with their labels. */
export type LabelLine = readonly [number: number, label: Label]

/** The labels of one entry: of captured signals, of attempts, and of runs. */
export interface LabelLines {
  readonly in?: ReadonlyArray<LabelLine>
  readonly again?: ReadonlyArray<LabelLine>
  readonly runs?: ReadonlyArray<LabelLine>
}

/** Follows the document of a lost conflict: the run's reads derive from it. */
export const DERIVED = "derived"

/** The contents of an entry. */
export interface Facts {
  readonly beat: number
  readonly semantics: number
  readonly clock: number
  readonly seed: string
  /** The digest of the previous entry; empty for the first. */
  readonly prev: string
  /** The nominal length of a beat, in milliseconds, if the beat timed a wait by it. */
  readonly tempo: number | undefined
  /** The captured input that the beat used, as JSON text, by its field. */
  readonly inputs: ReadonlyArray<readonly [field: string, text: string]>
  /** The isolation of enzymes without a setting of their own. */
  readonly isolation: Isolation
  /** The number of registrations and withdrawals that took effect with this beat. */
  readonly activated: number
  /** The run times of effects in the previous beat, if long enough to be measured. */
  readonly spent: ReadonlyArray<Spent>
  /** Digests of content stored since the previous entry. */
  readonly content: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Commands.Command>
  readonly captured: ReadonlyArray<CapturedSignal>
  readonly runs: ReadonlyArray<Handling>
  readonly nodes: ReadonlyArray<NodeLine>
  /** The runs of nodes visible to some handlings alone. */
  readonly secluded: ReadonlyArray<NodeLine>
  /** Nodes that began not to converge. They need not have run in this beat. */
  readonly restless: ReadonlyArray<NamedNode>
  /** Refused nodes, with their outputs. */
  readonly refused: ReadonlyArray<NamedNode>
  /** The due timers that run while the space is paused, as their ledger encodes them. */
  readonly due: ReadonlyArray<unknown>
  /** The cells with other due timers. */
  readonly met: ReadonlyArray<string>
  /** Signals that a pause has parked since the previous entry. */
  readonly parked: ParkedNote | undefined
  /** Expired records. */
  readonly retired: ReadonlyArray<Retired>
  /** Signals that the beat itself sent. */
  readonly sent: ReadonlyArray<Sent>
  readonly changes: ReadonlyArray<Staged>
  /** Digests of new content that the beat made, including the texts of modules. */
  readonly made: ReadonlyArray<string>
  /** The confidential labels, if there are any. */
  readonly labels?: LabelLines | undefined
}

/**
 * The text of an entry.
 *
 * Names, ids and keys are quoted without escaping: none of their characters needs it in JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const entry = (facts: Facts): string => {
  let text = `{"v":3,"beat":${facts.beat},"prev":"${facts.prev}","clock":${facts.clock},"seed":"${facts.seed}"`
  const semantics = Semantics.told(facts)
  if (semantics !== undefined) text += `,"semantics":${semantics}`
  if (facts.tempo !== undefined) text += `,"tempo":${facts.tempo}`
  for (const [field, input] of facts.inputs) text += `,"${field}":${input}`
  if (facts.isolation !== "snapshot") text += `,"isolation":"${facts.isolation}"`
  if (facts.activated > 0) text += `,"activated":${facts.activated}`
  if (facts.spent.length > 0) text += `,"spent":${JSON.stringify(facts.spent)}`
  if (facts.content.length > 0) text += `,"content":${addresses(facts.content)}`
  if (facts.commands.length > 0) text += `,"control":[${facts.commands.map(Commands.encode).join(",")}]`
  text += ',"in":['
  let runs = ""
  let i = 0
  for (const captured of facts.captured) {
    text += i === 0 ? input(captured) : `,${input(captured)}`
    for (const handling of captured.handlings) {
      const line = handling.flight !== captured.flight
        ? `[${i},"${handling.key}","same",${handling.run}]`
        : `[${i},"${handling.key}"${outcome(handling)}]`
      runs += runs === "" ? line : `,${line}`
    }
    for (const { oid, ...heard } of captured.heard ?? unheard) {
      const line = `[${i},"${oid}","heard",${JSON.stringify(heard)}]`
      runs += runs === "" ? line : `,${line}`
    }
    if (captured.flight.discarded) runs += `${runs === "" ? "" : ","}[${i},"","discarded"]`
    else if (captured.resolution.status === "cycle") {
      const line = `[${i},"","cycle",${JSON.stringify(captured.resolution.cycle)}]`
      runs += runs === "" ? line : `,${line}`
    }
    i++
  }
  text += `],"runs":[${runs}]`
  if (facts.nodes.length > 0) text += `,"nodes":[${facts.nodes.map(NodeLines.textOf).join(",")}]`
  if (facts.secluded.length > 0) text += `,"aside":[${facts.secluded.map(NodeLines.textOf).join(",")}]`
  if (facts.nodes.some(({ recalled }) => recalled !== undefined)) text += `,"recalled":${JSON.stringify(byLine(facts.nodes))}`
  if (facts.restless.length > 0) text += `,"restless":${JSON.stringify(facts.restless)}`
  if (facts.refused.length > 0) text += `,"refused":${JSON.stringify(facts.refused)}`
  text += ',"cells":['
  let separator = ""
  for (const change of facts.changes) {
    text += separator + cell(change)
    separator = ","
  }
  text += "]"
  if (facts.due.length > 0) text += `,"due":${JSON.stringify(facts.due)}`
  if (facts.met.length > 0) text += `,"met":${JSON.stringify(facts.met)}`
  if (facts.parked !== undefined) text += `,"parked":${JSON.stringify(facts.parked)}`
  if (facts.retired.length > 0) text += `,"retired":${JSON.stringify(facts.retired.map(retired))}`
  if (facts.sent.length > 0) text += `,"sent":[${facts.sent.map(awaited).join(",")}]`
  if (facts.made.length > 0) text += `,"made":${addresses(facts.made)}`
  if (facts.labels !== undefined) text += `,"labels":${JSON.stringify(facts.labels)}`
  text += "}"
  const messages = asides(facts)
  return messages === undefined ? text : `${text}\n${messages}`
}

/** Content by its addresses, in a form by which a store retains the content that a retained row names. */
const addresses = (hashes: ReadonlyArray<string>): string => JSON.stringify(hashes.map((hash) => CONTENT + hash))

/** The hashed part of a row's text. */
export const hashed = (text: string): string => {
  const end = text.indexOf("\n")
  return end < 0 ? text : text.slice(0, end)
}

const input = ({ handlings, pending, flight: { signal } }: CapturedSignal): string => {
  const { again } = pending
  const target = signal.target === undefined ? 0 : `"${signal.target}"`
  const path = signal.signal === undefined ? 0 : `"${signal.signal}"`
  if (again !== undefined) {
    const timeouts = again.timeouts === undefined ? "" : `"timeouts":${again.timeouts},`
    // A rollback may have taken the run back to an earlier segment.
    const segment = again.segment === undefined ? "" : `"segment":${handlings[0]?.segment ?? again.segment},`
    const awaits = signal.awaits === undefined ? "" : `,"awaits":"${signal.awaits}"`
    const payload = again.why === "redelivery" ? `,"payload":[${signal.payload?.text ?? ""}]${awaits}` : ""
    return `{"id":"${signal.id}","signal":${path},"target":${target},"enzyme":"${again.enzyme}","attempt":${again.attempt},` +
      `"why":"${again.why}","losses":${again.losses},${timeouts}${segment}"captured":${again.captured}${payload}}`
  }
  if (signal.origin === "run" && !pending.anew) return `"${signal.id}"`
  return signal.payload === undefined ? `["${signal.id}",${path},${target}]` : `["${signal.id}",${path},${target},${signal.payload.text}]`
}

const none: ReadonlyArray<OutgoingSignal> = []
const unheard: ReadonlyArray<Heard> = []

const outcome = ({ draft, outcome }: Handling): string => {
  if (outcome === undefined) return ""
  if (outcome.kind === "conflict") return `,"conflict","${outcome.document}"${reason(outcome)}`
  const emissions = isMerged(outcome) ? draft?.emissions ?? none : none
  const result = "code" in outcome ? `"${outcome.kind}","${outcome.tag}","${outcome.code}"`
    : outcome.kind === "waits" ? `"waits",${outcome.segment}`
    : outcome.result === undefined ? "[]" : `[${outcome.result.text}]`
  if (emissions.length === 0) return `,${result}`
  let text = ""
  for (const sent of emissions) text += text === "" ? emission(sent) : `,${emission(sent)}`
  return `,${result},[${text}]`
}

/** Follows the document of a lost conflict: the holder of a lock, or that the run's reads derive from it. */
const reason = ({ holder, isDerived }: Extract<Outcome, { readonly kind: "conflict" }>): string =>
  holder === undefined ? isDerived === true ? `,"${DERIVED}"` : "" : `,${JSON.stringify({ by: holder })}`

const emission = ({ at, id, payload, signal, space, target, tells }: OutgoingSignal): string => {
  const head = `["${id}",${signal === undefined ? 0 : `"${signal}"`},${target === undefined ? 0 : `"${target}"`}`
  if (tells !== undefined) return `${head},[${payload?.text ?? ""}],${at === undefined ? 0 : JSON.stringify(at)},0,"${tells}"]`
  if (space !== undefined) return `${head},[${payload?.text ?? ""}],${at === undefined ? 0 : JSON.stringify(at)},"${space}"]`
  if (at !== undefined) return `${head},[${payload?.text ?? ""}],${JSON.stringify(at)}]`
  return payload === undefined ? `${head}]` : `${head},${payload.text}]`
}

const awaited = ({ enzyme, id, payload, signal, target }: Sent): string =>
  `["${id}","${signal}",${target === undefined ? 0 : `"${target}"`},${enzyme === undefined ? 0 : `"${enzyme}"`},[${payload?.text ?? ""}]]`

const cell = ({ address, after, before, writers }: Staged): string =>
  `["${address.key}",${writers.length === 1 ? writers[0] : `[${writers.join()}]`},[${before?.text ?? ""}],[${after?.text ?? ""}]]`

const retired = ({ excess, kind, last }: Retired): RetiredLine => [kind, last, excess]

/** The messages of failed runs, by their places in the agenda; those of nodes follow. */
const asides = ({ nodes, runs }: Facts): string | undefined => {
  let messages: Array<readonly [run: number, message: string]> | undefined
  for (const { outcome, run } of runs) {
    if (outcome !== undefined && "code" in outcome) (messages ??= []).push([run, outcome.message])
  }
  nodes.forEach(({ error }, i) => {
    if (error !== undefined) (messages ??= []).push([runs.length + i, error.message])
  })
  return messages === undefined ? undefined : JSON.stringify({ messages })
}

/** A path that may be absent. */
type Path = string | 0

/** One signal in an entry's `in`. */
export type In =
  | string
  | readonly [id: string, signal: Path, target: Path, payload?: unknown]
  | {
    readonly id: string
    readonly signal: Path
    readonly target: Path
    readonly enzyme: string
    readonly attempt: number
    readonly why: Again["why"]
    readonly losses: number
    readonly timeouts?: number
    readonly segment?: number
    readonly captured: number
    readonly payload?: readonly [unknown?]
    readonly awaits?: string
  }

/** The kinds of failures. */
type Failure = "retry" | "dead" | "fatal"

/** One line of an entry's `runs`. A failed run with emissions is a cancelled one, which undid its effects. */
export type RunLine =
  | readonly [input: number, enzyme: string, result: readonly [unknown?], emissions?: ReadonlyArray<Emitted>]
  | readonly [input: number, enzyme: string, outcome: "waits", segment: number, emissions?: ReadonlyArray<Emitted>]
  | readonly [input: number, enzyme: string, outcome: "conflict", document: string, through?: typeof DERIVED | { readonly by: string }]
  | readonly [input: number, enzyme: string, outcome: "same", run: number]
  | readonly [input: number, oid: string, outcome: "heard", heard: Omit<Heard, "oid">]
  | readonly [input: number, enzyme: "", outcome: "cycle", names: ReadonlyArray<string>]
  | readonly [input: number, enzyme: "", outcome: "discarded"]
  | readonly [input: number, enzyme: string, outcome: Failure, tag: string, code: string, emissions?: ReadonlyArray<Emitted>]

/** One changed document: its writers, and its value before and after. */
export type CellLine =
  readonly [key: string, writers: number | ReadonlyArray<number>, before: readonly [unknown?], after: readonly [unknown?]]

/** One signal that the beat itself sent; the enzyme is the awaiting one. */
export type SentLine = readonly [id: string, signal: string, target: Path, enzyme: Path, payload: readonly [unknown?]]

/** The records of one kind to expire. */
export type RetiredLine = readonly [kind: string, last: number, excess: number]

/** One signal that a run sent. With a fifth item, the payload is in a list of its own. */
export type Emitted =
  readonly [id: string, signal: Path, target: Path, payload?: unknown, at?: At | 0, space?: string | 0, tells?: string]

/** A decoded entry. */
export interface Parsed {
  readonly beat: number
  readonly prev: string
  readonly clock: number
  readonly seed: string
  /** The rules of the beat; 1 in entries that were made before the rules had a number. */
  readonly semantics: number
  readonly tempo?: number
  /** Absent for `snapshot`. */
  readonly isolation?: Isolation
  readonly activated?: number
  readonly spent?: ReadonlyArray<Spent>
  readonly content?: ReadonlyArray<string>
  readonly control?: ReadonlyArray<Commands.CommandLine>
  readonly in: ReadonlyArray<In>
  readonly runs: ReadonlyArray<RunLine>
  readonly nodes?: ReadonlyArray<NodeRunLine>
  readonly aside?: ReadonlyArray<NodeRunLine>
  readonly recalled?: ReadonlyArray<readonly [line: number, standpoint: Standpoint]>
  readonly restless?: ReadonlyArray<NamedNode>
  readonly refused?: ReadonlyArray<NamedNode>
  readonly cells: ReadonlyArray<CellLine>
  readonly due?: ReadonlyArray<unknown>
  readonly met?: ReadonlyArray<string>
  readonly parked?: ParkedNote
  readonly retired?: ReadonlyArray<RetiredLine>
  readonly sent?: ReadonlyArray<SentLine>
  readonly made?: ReadonlyArray<string>
  readonly labels?: LabelLines
  /** The messages of failed runs, by their numbers. */
  readonly messages: ReadonlyMap<number, string>
}

/** The second line of a row. */
interface SecondLine {
  readonly messages: ReadonlyArray<readonly [number, string]>
}

/**
 * An entry from a row's text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Parsed => {
  const line = hashed(text)
  const aside = text.length > line.length ? JsonParser.parse(text.slice(line.length + 1)) as SecondLine : undefined
  const entry = JsonParser.parse(line) as Omit<Parsed, "semantics"> & { readonly semantics?: number }
  const { content, made } = entry
  return {
    ...entry,
    semantics: Semantics.read(entry.semantics),
    ...(content && { content: content.map(digest) }),
    ...(made && { made: made.map(digest) }),
    messages: new Map(aside?.messages)
  }
}

/** The captured input of a ledger, by its field; `undefined` if the beat did not use it. */
export const inputOf = (entry: Parsed, field: string): unknown => (entry as Parsed & Readonly<Record<string, unknown>>)[field]

const digest = (address: string): string => address.slice(CONTENT.length)

/** Whether a document's text changed. */
export const isChange = (before: Document | undefined, after: Document | undefined): boolean => before?.text !== after?.text
