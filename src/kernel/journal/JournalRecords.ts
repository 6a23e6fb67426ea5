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
import type { CellRecord } from "./CellLine.ts"
import * as CellLine from "./CellLine.ts"
import type { InputRecord } from "./InputLine.ts"
import * as InputLine from "./InputLine.ts"
import * as Commands from "../model/Command.ts"
import * as Modules from "../model/Modules.ts"
import * as NodeLine from "./NodeLine.ts"
import * as RetiredLine from "./RetiredLine.ts"
import type { RunRecord } from "./RunLine.ts"
import * as RunLine from "./RunLine.ts"
import type { SentRecord } from "./SentLine.ts"
import * as SentLine from "./SentLine.ts"
import { runName } from "../model/Signal.ts"
import * as Cells from "../../durable/Cells.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import * as SpaceSchema from "../model/SpaceSchema.ts"
import * as Titles from "../model/Titles.ts"

/** A sent signal; `run` is `undefined` if the beat itself sent it. */
export interface SignalSend {
  readonly signal: SentRecord
  readonly run: RunRecord | undefined
}

/**
 * Decodes the captured signals of an entry.
 */
export const inputsOf = (entry: Journal.Entry): ReadonlyArray<InputRecord> => entry.in.map(InputLine.read)

/**
 * Decodes the handlings of an entry.
 */
export const runsOf = (entry: Journal.Entry): ReadonlyArray<RunRecord> => entry.runs.map(RunLine.read)

/**
 * Decodes the runs of an entry, by their numbers: handlings without a run of their own are left out.
 */
export const ownRunsOf = (entry: Journal.Entry): ReadonlyArray<RunRecord> => runsOf(entry).filter(isOwn)

/**
 * Tests whether a handling has a run of its own.
 */
export const isOwn = ({ kind }: RunRecord): boolean => !SHARED.has(kind)

const SHARED: ReadonlySet<RunRecord["kind"]> = new Set(["same", "heard", "cycle", "discarded"])

/**
 * Returns the code of a failed handling; `undefined` for any other.
 */
export const codeOf = (run: RunRecord): string | undefined => "code" in run ? run.code : undefined

/**
 * Returns the name of a handling's run: the id of its event, or the receipt of a segment.
 */
export const nameOf = ({ again, id }: InputRecord, run: RunRecord | undefined): string =>
  runName(id, run?.kind === "waits" ? run.segment : again?.segment)

/**
 * Returns the enzyme of a handling; for a durable run that heard the signal, which is named after its operation, that of the
 * run. Entries of semantics 1 do not have the latter.
 */
export const enzymeOf = (run: RunRecord): string => {
  if (!Cells.isName(run.enzyme)) return run.enzyme
  const heard = run.kind === "heard" ? run.heard : run.kind === "ok" ? run.value[0] : undefined
  return (heard as { readonly enzyme?: string } | undefined)?.enzyme ?? run.enzyme
}

/**
 * Returns all signals sent in a beat, by their ids.
 */
export const sentIn = (entry: Journal.Entry): ReadonlyMap<string, SignalSend> => {
  const sent = new Map<string, SignalSend>()
  for (const run of runsOf(entry)) if ("sent" in run) for (const signal of run.sent) sent.set(signal.id, { signal, run })
  for (const signal of sentByBeat(entry)) sent.set(signal.id, { signal, run: undefined })
  return sent
}

/**
 * Decodes the signals that the beat itself sent.
 */
export const sentByBeat = ({ sent = [] }: Journal.Entry): ReadonlyArray<SentRecord> => sent.map(SentLine.read)

/**
 * Decodes the changed documents of an entry.
 */
export const cellsOf = (entry: Journal.Entry): ReadonlyArray<CellRecord> => entry.cells.map(CellLine.read)

/**
 * Returns the modules that became active in a beat, from the cells that its capture wrote.
 */
export const modulesOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Modules.Module> =>
  cells.flatMap(({ after, key }) => Modules.fromCell(key, after) ?? [])

/**
 * Returns the enzyme descriptions that a beat changed, from the cells that its capture wrote.
 */
export const descriptionsOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Modules.Description> =>
  cells.filter(isCaptured).flatMap(({ after, key }) => Modules.fromDescription(key, documentOf(after)) ?? [])

/**
 * Returns the titles of enzymes, and the parts of the schema of the space, that changed from a beat on.
 */
export const titlesOf = (cells: ReadonlyArray<CellRecord>): ReadonlyArray<Titles.TitleCell> =>
  cells.flatMap(({ after, key }) => {
    const text = after === undefined ? undefined : JSON.stringify(after)
    return Titles.fromCell(key, text) ?? SpaceSchema.fromCell(key, text) ?? []
  })

/**
 * Returns the label rules that took effect in a beat; `undefined` if none did.
 */
export const labelRulesOf = (cells: ReadonlyArray<CellRecord>): { readonly document: Document | undefined } | undefined => {
  const cell = cells.find((cell) => cell.key === Labels.ADDRESS.key && isCaptured(cell))
  return cell === undefined ? undefined : { document: documentOf(cell.after) }
}

/** Tests whether the capture alone wrote a document. */
const isCaptured = ({ writers }: CellRecord): boolean => writers.length === 1 && writers[0] === CAPTURE

/**
 * Decodes the records that a beat had to expire.
 */
export const retiredOf = ({ retired = [] }: Journal.Entry): ReadonlyArray<RetiredLine.ExpiredRecords> =>
  retired.map(RetiredLine.read)

/**
 * Decodes lines of node runs. Errors have no message.
 */
export const nodesOf = (lines: ReadonlyArray<NodeLine.NodeRunLine> = []): ReadonlyArray<NodeLine.NodeLine> => lines.map(NodeLine.read)

/**
 * Returns the document of a JSON value; `undefined` for no value.
 */
export const documentOf = (value: unknown): Document | undefined =>
  value === undefined ? undefined : Codec.decode(JSON.stringify(value))

/** The name that a space had before a beat in which it arrived by an import; `undefined` in each other beat. */
export const formerNameIn = ({ control = [] }: Pick<Journal.Entry, "control">): string | undefined => {
  for (const line of control) {
    const command = line[0] === "arrive" ? Commands.decode(line) : undefined
    if (command?.kind === "arrive") return SpaceMode.nameOf(command.detached.from)
  }
  return undefined
}
