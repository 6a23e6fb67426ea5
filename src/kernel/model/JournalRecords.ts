/**
 * The lines of a journal entry, decoded once into named records.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import * as Labels from "../../stage/Labels.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import type * as Journal from "./Journal.ts"
import { DERIVED } from "./Journal.ts"
import * as Modules from "./Modules.ts"
import type { NodeLine, NodeRunLine } from "./NodeLine.ts"
import { type Again, runName } from "./Signal.ts"
import * as Cells from "../../durable/Cells.ts"
import * as Titles from "./Titles.ts"
import type { At } from "../../stage/Launch.ts"

/** The paths of a signal. */
interface Paths {
  readonly signal: string | undefined
  readonly target: string | undefined
}

/** A captured signal. */
export interface InputRecord extends Paths {
  readonly id: string
  /** Whether this entry has the payload. Otherwise the sending or an earlier capturing entry has it. */
  readonly isWhole: boolean
  /** The payload as JSON; `undefined` if there is none. */
  readonly payload: unknown
  readonly awaits: string | undefined
  /** The repeated handling; `undefined` for a signal captured for the first time. */
  readonly again: AgainRecord | undefined
}

/** A repeated handling of a signal. */
export type AgainRecord = Pick<Again, "attempt" | "captured" | "enzyme" | "losses" | "segment" | "timeouts" | "why">

/** The result of a handling. */
type End =
  | { readonly kind: "ok"; readonly value: readonly [json?: unknown]; readonly sent: ReadonlyArray<SentRecord> }
  | { readonly kind: "waits"; readonly segment: number; readonly sent: ReadonlyArray<SentRecord> }
  | { readonly kind: "conflict"; readonly document: string; readonly isDerived: boolean; readonly holder: string | undefined }
  | { readonly kind: "same"; readonly run: number }
  | { readonly kind: "heard"; readonly heard: unknown }
  | { readonly kind: "cycle"; readonly names: ReadonlyArray<string> }
  | { readonly kind: "discarded" }
  | { readonly kind: "retry" | "dead" | "fatal"; readonly tag: string; readonly code: string; readonly sent: ReadonlyArray<SentRecord> }

/** A line of an entry's `runs`: the index of its input, its enzyme and its result. */
export type RunRecord = { readonly input: number; readonly enzyme: string } & End

/** A signal sent by a run or by the beat itself. */
export interface SentRecord extends Paths {
  readonly id: string
  readonly payload: unknown
  readonly at: At | undefined
  readonly space: string | undefined
  /** The enzyme that awaits it. */
  readonly awaits: string | undefined
  /** The operation of the durable run that waits for its end. */
  readonly tells?: string | undefined
}

/** A sent signal; `run` is `undefined` if the beat itself sent it. */
export interface Sending {
  readonly signal: SentRecord
  readonly run: RunRecord | undefined
}

/** A changed document with its writers; the values are JSON, `undefined` for an absent document. */
export interface CellRecord {
  readonly key: string
  readonly writers: ReadonlyArray<number>
  readonly before: unknown
  readonly after: unknown
}

/**
 * Decodes the captured signals of an entry.
 *
 * @category getters
 * @since 0.1.0
 */
export const inputsOf = (entry: Journal.Parsed): ReadonlyArray<InputRecord> => entry.in.map(inputOf)

const inputOf = (input: Journal.In): InputRecord => {
  const none = { signal: undefined, target: undefined, payload: undefined, awaits: undefined, again: undefined }
  if (typeof input === "string") return { ...none, id: input, isWhole: false }
  if (!("id" in input)) {
    const [id, signal, target, payload] = input
    return { ...none, id, ...pathsOf(signal, target), isWhole: true, payload }
  }
  const { attempt, awaits, captured, enzyme, id, losses, payload, segment, signal, target, timeouts, why } = input
  const again = { attempt, captured, enzyme, losses, segment, timeouts, why }
  return { id, ...pathsOf(signal, target), isWhole: payload !== undefined, payload: payload?.[0], awaits, again }
}

/**
 * Decodes the handlings of an entry.
 *
 * @category getters
 * @since 0.1.0
 */
export const runsOf = (entry: Journal.Parsed): ReadonlyArray<RunRecord> => entry.runs.map(runOf)

/**
 * Decodes the runs of an entry, by their numbers: handlings without a run of their own are left out.
 *
 * @category getters
 * @since 0.1.0
 */
export const ownRunsOf = (entry: Journal.Parsed): ReadonlyArray<RunRecord> => runsOf(entry).filter(isOwn)

/**
 * Tests whether a handling has a run of its own.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOwn = ({ kind }: RunRecord): boolean => !SHARED.has(kind)

const SHARED: ReadonlySet<RunRecord["kind"]> = new Set(["same", "heard", "cycle", "discarded"])

/**
 * Returns the code of a failed handling; `undefined` for any other.
 *
 * @category getters
 * @since 0.1.0
 */
export const codeOf = (run: RunRecord): string | undefined => "code" in run ? run.code : undefined

/**
 * Returns the name of a handling's run: the id of its event, or the receipt of a segment.
 *
 * @category getters
 * @since 0.1.0
 */
export const nameOf = ({ again, id }: InputRecord, run: RunRecord | undefined): string =>
  runName(id, run?.kind === "waits" ? run.segment : again?.segment)

/**
 * Returns the enzyme of a handling; for a durable run that heard the signal, which is named after its operation, that of the
 * run. Entries of semantics 1 do not have the latter.
 *
 * @category getters
 * @since 0.1.0
 */
export const enzymeOf = (run: RunRecord): string => {
  if (!Cells.isName(run.enzyme)) return run.enzyme
  const heard = run.kind === "heard" ? run.heard : run.kind === "ok" ? run.value[0] : undefined
  return (heard as { readonly enzyme?: string } | undefined)?.enzyme ?? run.enzyme
}

const runOf = (line: Journal.RunLine): RunRecord => {
  const [input, enzyme] = line
  return { input, enzyme, ...endOf(line) }
}

const endOf = ([, , kind, detail, last, more]: Journal.RunLine): End => {
  if (typeof kind === "object") return { kind: "ok", value: kind, sent: ((detail ?? []) as ReadonlyArray<Journal.Emitted>).map(emissionOf) }
  if (kind === "waits") {
    return { kind, segment: detail as number, sent: ((last ?? []) as ReadonlyArray<Journal.Emitted>).map(emissionOf) }
  }
  if (kind === "conflict") {
    const { by: holder } = (typeof last === "object" ? last : {}) as { readonly by?: string }
    return { kind, document: detail as string, isDerived: last === DERIVED, holder }
  }
  if (kind === "same") return { kind, run: detail as number }
  if (kind === "heard") return { kind, heard: detail }
  if (kind === "cycle") return { kind, names: detail as ReadonlyArray<string> }
  if (kind === "discarded") return { kind }
  return { kind, tag: detail as string, code: last as string, sent: ((more ?? []) as ReadonlyArray<Journal.Emitted>).map(emissionOf) }
}

/** With more than four items, the payload is in a list. */
const emissionOf = (emitted: Journal.Emitted): SentRecord => {
  const [id, signal, target, value, at = 0, space = 0, tells] = emitted
  const [payload] = emitted.length > 4 ? value as readonly [unknown?] : [value]
  const paths = pathsOf(signal, target)
  return { id, ...paths, payload, at: at === 0 ? undefined : at, space: presentOf(space), awaits: undefined, tells }
}

/**
 * Returns all signals sent in a beat, by their ids.
 *
 * @category getters
 * @since 0.1.0
 */
export const sentIn = (entry: Journal.Parsed): ReadonlyMap<string, Sending> => {
  const sent = new Map<string, Sending>()
  for (const run of runsOf(entry)) if ("sent" in run) for (const signal of run.sent) sent.set(signal.id, { signal, run })
  for (const signal of sentByBeat(entry)) sent.set(signal.id, { signal, run: undefined })
  return sent
}

/**
 * Decodes the signals that the beat itself sent.
 *
 * @category getters
 * @since 0.1.0
 */
export const sentByBeat = ({ sent = [] }: Journal.Parsed): ReadonlyArray<SentRecord> =>
  sent.map(([id, signal, target, awaits, [payload]]) =>
    ({ id, ...pathsOf(signal, target), payload, at: undefined, space: undefined, awaits: presentOf(awaits) }))

/**
 * Decodes the changed documents of an entry.
 *
 * @category getters
 * @since 0.1.0
 */
export const cellsOf = (entry: Journal.Parsed): ReadonlyArray<CellRecord> =>
  entry.cells.map(([key, writers, [before], [after]]) =>
    ({ key, writers: typeof writers === "number" ? [writers] : writers, before, after }))

/**
 * Returns the modules that became active in a beat, from the cells that its capture wrote.
 *
 * @category getters
 * @since 0.1.0
 */
export const modulesOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Modules.Module> =>
  cells.flatMap(({ after, key }) => Modules.fromCell(key, after) ?? [])

/**
 * Returns the enzyme descriptions that a beat changed, from the cells that its capture wrote.
 *
 * @category getters
 * @since 0.1.0
 */
export const descriptionsOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Modules.Description> =>
  cells.filter(isCaptured).flatMap(({ after, key }) => Modules.fromDescription(key, documentOf(after)) ?? [])

/**
 * Returns the titles of enzymes that changed from a beat on.
 *
 * @category getters
 * @since 0.1.0
 */
export const titlesOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Titles.Titled> =>
  cells.flatMap(({ after, key }) => Titles.fromCell(key, after === undefined ? undefined : JSON.stringify(after)) ?? [])

/**
 * Returns the label rules that took effect in a beat; `undefined` if none did.
 *
 * @category getters
 * @since 0.1.0
 */
export const labelRulesOf = (cells: ReadonlyArray<CellRecord>): { readonly document: Document | undefined } | undefined => {
  const cell = cells.find((cell) => cell.key === Labels.ADDRESS.key && isCaptured(cell))
  return cell === undefined ? undefined : { document: documentOf(cell.after) }
}

/** Tests whether the capture alone wrote a document. */
const isCaptured = ({ writers }: CellRecord): boolean => writers.length === 1 && writers[0] === CAPTURE

/**
 * Decodes the records that a beat had to expire.
 *
 * @category getters
 * @since 0.1.0
 */
export const retiredOf = ({ retired = [] }: Journal.Parsed): ReadonlyArray<Journal.Retired> =>
  retired.map(([kind, last, excess]) => ({ kind, last, excess }))

/**
 * Decodes lines of node runs. Errors have no message.
 *
 * @category getters
 * @since 0.1.0
 */
export const nodesOf = (lines: ReadonlyArray<NodeRunLine> = []): ReadonlyArray<NodeLine> =>
  lines.map(([name, at, above = 0, tag, code]) => {
    const [parent, made] = typeof above === "object" ? above : [presentOf(above), undefined]
    return { name, at, parent, made, error: tag === undefined || code === undefined ? undefined : { tag, code, message: "" } }
  })

/**
 * Returns the document of a JSON value; `undefined` for no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const documentOf = (value: unknown): Document | undefined =>
  value === undefined ? undefined : Codec.decode(JSON.stringify(value))

const pathsOf = (signal: string | 0, target: string | 0): Paths => ({ signal: presentOf(signal), target: presentOf(target) })

/** Decodes an item that may be missing. */
const presentOf = (item: string | 0): string | undefined => item === 0 ? undefined : item
