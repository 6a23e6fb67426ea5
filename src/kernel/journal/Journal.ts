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
 * errors and their places in the code, follows on a second line.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as JsonParser from "../../cell/JsonParser.ts"
import type { Label } from "../../cell/Label.ts"
import type { CodePlace } from "../../diagnostic/CodePlace.ts"
import { JournalVersion, PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import { byLine, type Standpoint } from "../../scheduler/definition/Standpoint.ts"
import { FOLDER as CONTENT } from "../../stage/Content.ts"
import * as Semantics from "../../stage/Semantics.ts"
import type { StagedDocument } from "../../stage/Stage.ts"
import * as CellLine from "./CellLine.ts"
import * as Commands from "../model/Command.ts"
import type { EffectTime } from "../model/BeatStart.ts"
import type { CapturedSignal, Handling } from "../model/InFlight.ts"
import * as InputLine from "./InputLine.ts"
import type { ParkedNote } from "../model/ParkedSignals.ts"
import * as NodeLine from "./NodeLine.ts"
import * as RetiredLine from "./RetiredLine.ts"
import * as RunLine from "./RunLine.ts"
import * as SentLine from "./SentLine.ts"

/** A node in a report, and its output. The output of a refused node is omitted if another node has its name. */
export type NamedNode = readonly [name: string, output?: string]

/** Numbers of inputs or runs, with their labels. */
export type LabelLine = readonly [number: number, label: Label]

/** The labels of one entry: of captured signals, of attempts, and of runs. */
export interface LabelLines {
  readonly in?: ReadonlyArray<LabelLine>
  readonly again?: ReadonlyArray<LabelLine>
  readonly runs?: ReadonlyArray<LabelLine>
}

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
  readonly spent: ReadonlyArray<EffectTime>
  /** Digests of content stored since the previous entry. */
  readonly content: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Commands.Command>
  readonly captured: ReadonlyArray<CapturedSignal>
  readonly runs: ReadonlyArray<Handling>
  readonly nodes: ReadonlyArray<NodeLine.NodeLine>
  /** The runs of nodes visible to some handlings alone. */
  readonly isolated: ReadonlyArray<NodeLine.NodeLine>
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
  readonly retired: ReadonlyArray<RetiredLine.ExpiredRecords>
  /** Signals that the beat itself sent. */
  readonly sent: ReadonlyArray<SentLine.BeatSignal>
  readonly changes: ReadonlyArray<StagedDocument>
  /** Digests of new content that the beat made, including the texts of modules. */
  readonly made: ReadonlyArray<string>
  /** The confidential labels, if there are any. */
  readonly labels?: LabelLines | undefined
}

/** The digest of the entry before, from the text of an entry; `undefined` for a text that is none. */
export const prevOf = (text: string): string | undefined => PREV.exec(text)?.[1]

const PREV = /^\{"v":\d{1,6},"beat":\d{1,16},"prev":"([0-9a-f]{0,128})"/

/** The version of the form of entries, which each entry names first. */
export const VERSION = 3

/** The beginning of each entry of this version. */
const BEGIN = `{"v":${VERSION},`

/**
 * The text of an entry.
 *
 * Names, ids and keys are quoted without escaping: none of their characters needs it in JSON.
 */
export const entry = (facts: Facts): string => {
  let text = `${BEGIN}"beat":${facts.beat},"prev":"${facts.prev}","clock":${facts.clock},"seed":"${facts.seed}"`
  const semantics = Semantics.fieldOf(facts)
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
    text += i === 0 ? InputLine.write(captured) : `,${InputLine.write(captured)}`
    runs = RunLine.join(runs, RunLine.write(captured, i))
    i++
  }
  text += `],"runs":[${runs}]`
  if (facts.nodes.length > 0) text += `,"nodes":[${facts.nodes.map(NodeLine.write).join(",")}]`
  if (facts.isolated.length > 0) text += `,"aside":[${facts.isolated.map(NodeLine.write).join(",")}]`
  if (facts.nodes.some(({ recalled }) => recalled !== undefined)) text += `,"recalled":${JSON.stringify(byLine(facts.nodes))}`
  if (facts.restless.length > 0) text += `,"restless":${JSON.stringify(facts.restless)}`
  if (facts.refused.length > 0) text += `,"refused":${JSON.stringify(facts.refused)}`
  text += ',"cells":['
  let separator = ""
  for (const change of facts.changes) {
    text += separator + CellLine.write(change)
    separator = ","
  }
  text += "]"
  if (facts.due.length > 0) text += `,"due":${JSON.stringify(facts.due)}`
  if (facts.met.length > 0) text += `,"met":${JSON.stringify(facts.met)}`
  if (facts.parked !== undefined) text += `,"parked":${JSON.stringify(facts.parked)}`
  if (facts.retired.length > 0) text += `,"retired":[${facts.retired.map(RetiredLine.write).join(",")}]`
  if (facts.sent.length > 0) text += `,"sent":[${facts.sent.map(SentLine.write).join(",")}]`
  if (facts.made.length > 0) text += `,"made":${addresses(facts.made)}`
  if (facts.labels !== undefined) text += `,"labels":${JSON.stringify(facts.labels)}`
  text += "}"
  const messages = asides(facts)
  return messages === undefined ? text : `${text}\n${messages}`
}

/** Content by its addresses, in a form by which a store retains the content that a retained row names. */
const addresses = (hashes: ReadonlyArray<string>): string => JSON.stringify(hashes.map((hash) => CONTENT + hash))

/** The hashed part of a row's text. */
export const hashedText = (text: string): string => {
  const end = text.indexOf("\n")
  return end < 0 ? text : text.slice(0, end)
}

/** The messages of failed runs, by their places in the agenda; those of nodes follow. A development host adds places in the code. */
const asides = ({ nodes, runs }: Facts): string | undefined => {
  let messages: Array<readonly [run: number, message: string]> | undefined
  let places: Array<readonly [run: number, at: CodePlace]> | undefined
  for (const { outcome, run } of runs) {
    if (outcome === undefined || !("code" in outcome)) continue
    ;(messages ??= []).push([run, outcome.message])
    if (outcome.at !== undefined) (places ??= []).push([run, outcome.at])
  }
  nodes.forEach(({ error }, i) => {
    if (error !== undefined) (messages ??= []).push([runs.length + i, error.message])
  })
  return messages === undefined ? undefined : JSON.stringify({ messages, places })
}

/** A decoded entry. */
export interface Entry {
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
  readonly spent?: ReadonlyArray<EffectTime>
  readonly content?: ReadonlyArray<string>
  readonly control?: ReadonlyArray<Commands.CommandLine>
  readonly in: ReadonlyArray<InputLine.InputLine>
  readonly runs: ReadonlyArray<RunLine.RunLine>
  readonly nodes?: ReadonlyArray<NodeLine.NodeRunLine>
  readonly aside?: ReadonlyArray<NodeLine.NodeRunLine>
  readonly recalled?: ReadonlyArray<readonly [line: number, standpoint: Standpoint]>
  readonly restless?: ReadonlyArray<NamedNode>
  readonly refused?: ReadonlyArray<NamedNode>
  readonly cells: ReadonlyArray<CellLine.CellLine>
  readonly due?: ReadonlyArray<unknown>
  readonly met?: ReadonlyArray<string>
  readonly parked?: ParkedNote
  readonly retired?: ReadonlyArray<RetiredLine.RetiredLine>
  readonly sent?: ReadonlyArray<SentLine.SentLine>
  readonly made?: ReadonlyArray<string>
  readonly labels?: LabelLines
  /** The messages of failed runs, by their numbers. */
  readonly messages: ReadonlyMap<number, string>
  /** The places from which they failed, by the same numbers, if a development host made the entry. */
  readonly places: ReadonlyMap<number, CodePlace>
}

/** The second line of a row. */
interface SecondLine {
  readonly messages: ReadonlyArray<readonly [number, string]>
  readonly places?: ReadonlyArray<readonly [number, CodePlace]>
}

/**
 * An entry from a row's text.
 *
 * @throws PersistenceError for an entry of another version
 */
export const parse = (text: string): Entry => {
  checkVersion(text)
  const line = hashedText(text)
  const aside = text.length > line.length ? JsonParser.parse(text.slice(line.length + 1)) as SecondLine : undefined
  const entry = JsonParser.parse(line) as Omit<Entry, "semantics"> & { readonly semantics?: number }
  const { content, made } = entry
  return {
    ...entry,
    semantics: Semantics.read(entry.semantics),
    ...(content && { content: content.map(digest) }),
    ...(made && { made: made.map(digest) }),
    messages: new Map(aside?.messages),
    places: new Map(aside?.places)
  }
}

/**
 * Refuses the text of an entry whose form is of another version. No version wrote entries that name none.
 *
 * @throws PersistenceError
 */
export const checkVersion = (text: string, space?: string): void => {
  if (text.startsWith(BEGIN)) return
  const { beat, v } = JsonParser.parse(hashedText(text)) as { readonly beat: number; readonly v?: unknown }
  if (v !== VERSION) throw new PersistenceError({ reason: new JournalVersion({ space, beat, found: v, reads: VERSION }) })
}

/** The fields of an entry before and at its semantics. Neither the digest nor the seed has a quote. */
const SEED = ',"seed":"'
const SEMANTICS = '","semantics":'

/**
 * Refuses the text of an entry whose beat followed rules that this version does not know: it would go on by others.
 *
 * @throws PersistenceError
 */
export const checkSemantics = (text: string, { beat, space }: { readonly beat: number; readonly space: string }): void => {
  const end = text.indexOf('"', text.indexOf(SEED) + SEED.length)
  const found = text.startsWith(SEMANTICS, end) ? Number.parseInt(text.slice(end + SEMANTICS.length, end + 30), 10) : Semantics.FIRST
  if (found <= Semantics.NEWEST) return
  throw new PersistenceError({ reason: new JournalVersion({ space, beat, of: "semantics", found, reads: Semantics.NEWEST }) })
}

/** The captured input of a ledger, by its field; `undefined` if the beat did not use it. */
export const inputOf = (entry: Entry, field: string): unknown => (entry as Entry & Readonly<Record<string, unknown>>)[field]

const digest = (address: string): string => address.slice(CONTENT.length)

/** Whether a document's text changed. */
export const isChange = (before: Document | undefined, after: Document | undefined): boolean => before?.text !== after?.text
