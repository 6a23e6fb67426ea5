/**
 * The journal: one entry per beat, from which all else can be told.
 *
 * An entry holds what the beat captured, how each run ended, what was sent and
 * what changed, with the texts before and after; and the digest of the entry
 * before it. Each fact is written once: a signal that a run sends stands where it
 * was sent, and the beat that captures it names its id. Ledgers, receipts and
 * explanations are views of it. (Architecture, sections 1.3, 7 and 9.)
 *
 * The first line of a row is what is hashed. What differs between engines, the
 * messages of errors, follows on a second line.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import { byLine, type Standpoint } from "../../scheduler/Standpoint.ts"
import type { At, OutgoingSignal } from "../../stage/Launch.ts"
import { FOLDER as CONTENT } from "../../stage/Content.ts"
import * as Labels from "../../stage/Labels.ts"
import { CAPTURE, type Staged } from "../../stage/Stage.ts"
import * as Commands from "./Command.ts"
import type { Captured, Handling } from "./Flight.ts"
import * as Modules from "./Modules.ts"
import type { ParkedNote } from "./Parked.ts"
import * as NodeLines from "./NodeLine.ts"
import type { NodeLine, NodeRunLine } from "./NodeLine.ts"
import type { Again } from "./Signal.ts"
import * as Titles from "./Titles.ts"

/** A signal that the beat itself sent: to who awaits an operation, or to all who take it. */
export interface Sent {
  readonly id: string
  readonly signal: string
  readonly target: string | undefined
  /** The enzyme that awaits it, where one does. */
  readonly enzyme: string | undefined
  readonly payload: Document | undefined
}

/** A node that something is told of, and what it derives. One that was not taken in comes without where another one has its name. */
export type NamedNode = readonly [name: string, output?: string]

/** An effect, and how long its runs in one beat took together, in whole milliseconds of the host. */
export type Spent = readonly [node: string, millis: number]

/** What of a kind is to be let go of: what ended up to a clock, and so many of the oldest beside. */
export type Retired = readonly [kind: string, last: number, excess: number]

/** Numbers of inputs or runs, with their labels. */
export type LabelLine = readonly [number: number, label: Label]

/** The labels of one entry, where it has any: of what was captured, of attempts, and of runs. */
export interface LabelLines {
  readonly in?: ReadonlyArray<LabelLine>
  readonly again?: ReadonlyArray<LabelLine>
  readonly runs?: ReadonlyArray<LabelLine>
}

/** Behind the document on which a run lost: what the run read derives from it. */
export const DERIVED = "derived"

/** What an entry is made of. */
export interface Facts {
  readonly beat: number
  readonly clock: number
  readonly seed: string
  /** The digest of the entry before; empty for the first. */
  readonly prev: string
  /** Milliseconds that a beat is meant to take, where something was timed by that. */
  readonly tempo: number | undefined
  /** The captured input that something followed from, as JSON text, by its field. */
  readonly inputs: ReadonlyArray<readonly [field: string, text: string]>
  /** The isolation of enzymes that do not say. */
  readonly isolation: Isolation
  /** How many registrations and withdrawals took effect with this beat. */
  readonly activated: number
  /** How long runs of effects took in the beat before, where that was long enough to be measured. */
  readonly spent: ReadonlyArray<Spent>
  /** Digests of content that came in since the entry before. */
  readonly content: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Commands.Command>
  readonly captured: ReadonlyArray<Captured>
  readonly runs: ReadonlyArray<Handling>
  readonly nodes: ReadonlyArray<NodeLine>
  /** The runs of nodes that some handlings see alone. */
  readonly secluded: ReadonlyArray<NodeLine>
  /** Nodes that do not come to rest, when that begins. They need not have run in this beat. */
  readonly restless: ReadonlyArray<NamedNode>
  /** Nodes that were not taken in, with what they derive. */
  readonly refused: ReadonlyArray<NamedNode>
  /** The timers that came due and that run while the space is paused, as their ledger encodes them. */
  readonly due: ReadonlyArray<unknown>
  /** The cells whose other timers came due. */
  readonly met: ReadonlyArray<string>
  /** Signals that a closed gate parked since the entry before. */
  readonly parked: ParkedNote | undefined
  /** What is let go of, since it is over for long. */
  readonly retired: ReadonlyArray<Retired>
  /** What the beat itself sent. */
  readonly sent: ReadonlyArray<Sent>
  readonly changes: ReadonlyArray<Staged>
  /** Digests of content that the beat made, the texts of modules among it, and that was not in sight before. */
  readonly made: ReadonlyArray<string>
  /** What was confidential of it, where anything was. */
  readonly labels?: LabelLines | undefined
}

/**
 * The text of an entry.
 *
 * Names, ids and keys are put between quotes as they are: none of their characters has to be escaped in JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const entry = (facts: Facts): string => {
  let text = `{"v":2,"beat":${facts.beat},"prev":"${facts.prev}","clock":${facts.clock},"seed":"${facts.seed}"`
  if (facts.tempo !== undefined) text += `,"tempo":${facts.tempo}`
  for (const [field, input] of facts.inputs) text += `,"${field}":${input}`
  if (facts.isolation !== "snapshot") text += `,"isolation":"${facts.isolation}"`
  if (facts.activated > 0) text += `,"activated":${facts.activated}`
  if (facts.spent.length > 0) text += `,"spent":${JSON.stringify(facts.spent)}`
  if (facts.content.length > 0) text += `,"content":${addresses(facts.content)}`
  if (facts.commands.length > 0) text += `,"control":[${facts.commands.map(Commands.encode).join(",")}]`
  text += ',"in":['
  let runs = ""
  for (let i = 0; i < facts.captured.length; i++) {
    const captured = facts.captured[i]!
    text += i === 0 ? input(captured) : `,${input(captured)}`
    for (const handling of captured.handlings) {
      const line = handling.flight !== captured.flight
        ? `[${i},"${handling.key}","same",${handling.run}]`
        : `[${i},"${handling.key}"${outcome(handling)}]`
      runs += runs === "" ? line : `,${line}`
    }
    if (captured.flight.discarded) runs += `${runs === "" ? "" : ","}[${i},"","discarded"]`
    else if (captured.resolution.status === "cycle") {
      const line = `[${i},"","cycle",${JSON.stringify(captured.resolution.cycle)}]`
      runs += runs === "" ? line : `,${line}`
    }
  }
  text += `],"runs":[${runs}]`
  if (facts.nodes.length > 0) text += `,"nodes":[${facts.nodes.map(NodeLines.textOf).join(",")}]`
  if (facts.secluded.length > 0) text += `,"aside":[${facts.secluded.map(NodeLines.textOf).join(",")}]`
  if (facts.nodes.some(({ recalled }) => recalled !== undefined)) text += `,"recalled":${JSON.stringify(byLine(facts.nodes))}`
  if (facts.restless.length > 0) text += `,"restless":${JSON.stringify(facts.restless)}`
  if (facts.refused.length > 0) text += `,"refused":${JSON.stringify(facts.refused)}`
  text += ',"cells":['
  for (let i = 0; i < facts.changes.length; i++) text += i === 0 ? cell(facts.changes[i]!) : `,${cell(facts.changes[i]!)}`
  text += "]"
  if (facts.due.length > 0) text += `,"due":${JSON.stringify(facts.due)}`
  if (facts.met.length > 0) text += `,"met":${JSON.stringify(facts.met)}`
  if (facts.parked !== undefined) text += `,"parked":${JSON.stringify(facts.parked)}`
  if (facts.retired.length > 0) text += `,"retired":${JSON.stringify(facts.retired)}`
  if (facts.sent.length > 0) text += `,"sent":[${facts.sent.map(awaited).join(",")}]`
  if (facts.made.length > 0) text += `,"made":${addresses(facts.made)}`
  if (facts.labels !== undefined) text += `,"labels":${JSON.stringify(facts.labels)}`
  text += "}"
  const messages = asides(facts)
  return messages === undefined ? text : `${text}\n${messages}`
}

/** Content by its addresses: a store keeps what a row that is kept names so. */
const addresses = (hashes: ReadonlyArray<string>): string => JSON.stringify(hashes.map((hash) => CONTENT + hash))

/** What of a row's text is hashed. */
export const hashed = (text: string): string => {
  const end = text.indexOf("\n")
  return end < 0 ? text : text.slice(0, end)
}

const input = ({ pending, flight: { signal } }: Captured): string => {
  const { again } = pending
  const target = signal.target === undefined ? 0 : `"${signal.target}"`
  const path = signal.signal === undefined ? 0 : `"${signal.signal}"`
  if (again !== undefined) {
    return `{"id":"${signal.id}","signal":${path},"target":${target},"enzyme":"${again.enzyme}","attempt":${again.attempt},"why":"${again.why}","losses":${again.losses},${again.timeouts === undefined ? "" : `"timeouts":${again.timeouts},`}"captured":${again.captured}${again.why === "redelivery" ? `,"payload":[${signal.payload?.text ?? ""}]${signal.awaits === undefined ? "" : `,"awaits":"${signal.awaits}"`}` : ""}}`
  }
  if (signal.origin === "run" && !pending.anew) return `"${signal.id}"`
  return signal.payload === undefined ? `["${signal.id}",${path},${target}]` : `["${signal.id}",${path},${target},${signal.payload.text}]`
}

const outcome = ({ draft, outcome }: Handling): string => {
  if (outcome === undefined) return ""
  if (outcome.kind === "conflict") return `,"conflict","${outcome.document}"${outcome.isDerived === true ? `,"${DERIVED}"` : ""}`
  if (outcome.kind !== "ok") return `,"${outcome.kind}","${outcome.tag}","${outcome.code}"`
  const emissions = draft!.emissions
  const result = outcome.result === undefined ? "[]" : `[${outcome.result.text}]`
  if (emissions.length === 0) return `,${result}`
  let text = `,${result},[${emission(emissions[0]!)}`
  for (let i = 1; i < emissions.length; i++) text += `,${emission(emissions[i]!)}`
  return `${text}]`
}

const emission = ({ at, id, payload, signal, space, target }: OutgoingSignal): string => {
  const head = `["${id}",${signal === undefined ? 0 : `"${signal}"`},${target === undefined ? 0 : `"${target}"`}`
  if (space !== undefined) return `${head},[${payload?.text ?? ""}],${at === undefined ? 0 : JSON.stringify(at)},"${space}"]`
  if (at !== undefined) return `${head},[${payload?.text ?? ""}],${JSON.stringify(at)}]`
  return payload === undefined ? `${head}]` : `${head},${payload.text}]`
}

const awaited = ({ enzyme, id, payload, signal, target }: Sent): string =>
  `["${id}","${signal}",${target === undefined ? 0 : `"${target}"`},${enzyme === undefined ? 0 : `"${enzyme}"`},[${payload?.text ?? ""}]]`

const cell = ({ address, after, before, writers }: Staged): string =>
  `["${address.key}",${writers.length === 1 ? writers[0] : `[${writers.join()}]`},[${before?.text ?? ""}],[${after?.text ?? ""}]]`

/** The messages of the runs that failed, by their places in the agenda; those of nodes behind them. */
const asides = ({ nodes, runs }: Facts): string | undefined => {
  let messages: Array<readonly [run: number, message: string]> | undefined
  for (const { outcome, run } of runs) {
    if (outcome !== undefined && outcome.kind !== "ok" && outcome.kind !== "conflict") (messages ??= []).push([run, outcome.message])
  }
  nodes.forEach(({ error }, i) => {
    if (error !== undefined) (messages ??= []).push([runs.length + i, error.message])
  })
  return messages === undefined ? undefined : JSON.stringify({ messages })
}

/** A value of an entry that stands for a path that may be missing. */
type Path = string | 0

/** One signal in an entry's `in`. */
export type In =
  | string
  | readonly [id: string, signal: Path, target: Path, payload?: unknown]
  | { readonly id: string; readonly signal: Path; readonly target: Path; readonly enzyme: string; readonly attempt: number; readonly why: Again["why"]; readonly losses: number; readonly timeouts?: number; readonly captured: number; readonly payload?: readonly [unknown?]; readonly awaits?: string }

/** One line of an entry's `runs`. */
export type RunLine =
  | readonly [input: number, enzyme: string, result: readonly [unknown?], emissions?: ReadonlyArray<Emitted>]
  | readonly [input: number, enzyme: string, outcome: "conflict", document: string, through?: typeof DERIVED]
  | readonly [input: number, enzyme: string, outcome: "same", run: number]
  | readonly [input: number, enzyme: "", outcome: "cycle", names: ReadonlyArray<string>]
  | readonly [input: number, enzyme: "", outcome: "discarded"]
  | readonly [input: number, enzyme: string, outcome: "retry" | "dead" | "fatal", tag: string, code: string]

/** One document that changed: who wrote it, and its value before and after. */
export type CellLine = readonly [key: string, writers: number | ReadonlyArray<number>, before: readonly [unknown?], after: readonly [unknown?]]

/** One signal that the beat itself sent; the enzyme is one that awaits it. */
export type SentLine = readonly [id: string, signal: string, target: Path, enzyme: Path, payload: readonly [unknown?]]

/** One signal that a run sent. With a fifth item, the payload stands in a list of its own. */
export type Emitted = readonly [id: string, signal: Path, target: Path, payload?: unknown, at?: At | 0, space?: string]

/** An entry, read back. */
export interface Parsed {
  readonly beat: number
  readonly prev: string
  readonly clock: number
  readonly seed: string
  readonly tempo?: number
  /** Where it is not `snapshot`. */
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
  readonly retired?: ReadonlyArray<Retired>
  readonly sent?: ReadonlyArray<SentLine>
  readonly made?: ReadonlyArray<string>
  readonly labels?: LabelLines
  /** What is said of runs that failed, by their numbers. */
  readonly messages: ReadonlyMap<number, string>
}

/**
 * An entry from a row's text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Parsed => {
  const line = hashed(text)
  const aside = text.length > line.length ? JSON.parse(text.slice(line.length + 1)) as { readonly messages: ReadonlyArray<readonly [number, string]> } : undefined
  const entry = JSON.parse(line) as Parsed
  const { content, made } = entry
  return { ...entry, ...(content && { content: content.map(digest) }), ...(made && { made: made.map(digest) }), messages: new Map(aside?.messages) }
}

/** The captured input of a ledger, by the field that is its own; `undefined` where nothing followed from it. */
export const inputOf = (entry: Parsed, field: string): unknown => (entry as Parsed & Readonly<Record<string, unknown>>)[field]

const digest = (address: string): string => address.slice(CONTENT.length)

/** What became active in an entry's beat: its capture wrote the cells that say so. */
export const modules = (entry: Parsed): ReadonlyArray<Modules.Module> =>
  entry.cells.flatMap(([key, , , [after]]) => Modules.fromCell(key, after) ?? [])

/** What an entry's beat described anew of what enzymes take: its capture wrote the cells that say so. */
export const descriptions = (entry: Parsed): ReadonlyArray<Modules.Description> =>
  entry.cells.flatMap(([key, writers, , after]) => writers !== CAPTURE ? [] : Modules.fromDescription(key, after.length === 0 ? undefined : Codec.decode(JSON.stringify(after[0]))) ?? [])

/** The titles of enzymes in ledgers from an entry's beat on, where they changed. */
export const titled = (entry: Parsed): ReadonlyArray<Titles.Titled> =>
  entry.cells.flatMap(([key, , , [after]]) => Titles.fromCell(key, after === undefined ? undefined : JSON.stringify(after)) ?? [])

/** The rules on labels that became active in an entry's beat, where any did. */
export const labels = (entry: Parsed): { readonly document: Document | undefined } | undefined => {
  const cell = entry.cells.find(([key, writers]) => key === Labels.ADDRESS.key && writers === CAPTURE)
  return cell === undefined ? undefined : { document: cell[3].length === 0 ? undefined : Codec.decode(JSON.stringify(cell[3][0])) }
}

/** Whether a document's text changed. */
export const isChange = (before: Document | undefined, after: Document | undefined): boolean => before?.text !== after?.text

/** The id of a signal in an entry's `in`. */
export const idOf = (input: In): string => typeof input === "string" ? input : "id" in input ? input.id : input[0]

/** What lines say that stand for no run of their own. */
const shared: ReadonlySet<unknown> = new Set(["same", "cycle", "discarded"])

/** Whether a line stands for a run of its own. */
export const isOwn = (line: RunLine): boolean => !shared.has(line[2])

/** The lines of an entry that stand for runs of their own, by the runs' numbers. */
export const ownRuns = (entry: Parsed): ReadonlyArray<RunLine> => entry.runs.filter(isOwn)
