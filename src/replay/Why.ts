/**
 * Why: which run wrote a value, on which signal, after which reads, back to the
 * ingress.
 *
 * The journal names the writer and the signal; reads are not kept, so the one
 * beat is run again to see them. An explanation costs nothing until somebody
 * asks. (Architecture, section 9.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Archive } from "../kernel/beat/Archive.ts"
import type { BeatWork } from "../kernel/model/BeatWork.ts"
import * as Journal from "../kernel/model/Journal.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import { CHILDREN } from "../stage/Children.ts"
import type { Draft } from "../stage/Draft.ts"
import { CAPTURE } from "../stage/Stage.ts"
import * as Replay from "./Replay.ts"
import * as Rows from "./Rows.ts"

/** A signal that led to a value: what it was, who sent it, and in which beat it was handled. */
export interface Link {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  /** The beat that captured it. */
  readonly beat: number
  /** The enzyme that sent it; `undefined` where it came through the ingress. */
  readonly sentBy: string | undefined
}

/** Where a run looked, and what it saw there. */
export interface Seen {
  readonly address: string
  readonly value: Value
}

/** One of those who wrote a value. */
export interface Writer {
  /** An enzyme or a node, `capture` for a write from outside, `rollback` where one took it back, `commit` for the runtime itself. */
  readonly by: string
  /** What the run read before, as far as its beat can be run again. */
  readonly reads: ReadonlyArray<Seen>
  /** The signal that it ran for, the one that led to that, and so on back to the ingress. */
  readonly chain: ReadonlyArray<Link>
}

/** Where a value comes from. */
export interface Reason {
  readonly address: string
  readonly value: Value
  readonly before: Value
  /** The beat that wrote it. */
  readonly beat: number
  /** Who wrote it in that beat: usually one, several where their writes commute. */
  readonly writers: ReadonlyArray<Writer>
}

/** Most links of a chain that are told. */
const MAX_CHAIN = 1000

/**
 * Why an address holds what it holds; `undefined` where the journal does not know of a write there.
 *
 * @throws InvalidAddress
 * @category combinators
 * @since 0.1.0
 */
export const why = async (archive: Archive, text: string): Promise<Reason | undefined> => {
  const address = Address.parse(text)
  const found = await lastWrite(archive, address)
  if (found === undefined) return undefined
  const { cell, row } = found
  const entry = Journal.parse(row.text)
  const runs = Journal.ownRuns(entry)
  const work = (await Replay.observe(archive, row))?.work
  const writers: Array<Writer> = []
  for (const run of [cell[1]].flat() as ReadonlyArray<number>) {
    if (run >= 0 && !touches(work, run, address)) continue
    const line = runs[run]
    const node = run < runs.length ? undefined : entry.nodes?.[run - runs.length]
    if (node !== undefined) writers.push({ by: node[0], reads: seenBy(work?.nodeDrafts[run - runs.length]), chain: [] })
    else if (line === undefined) writers.push({ by: run !== CAPTURE ? "commit" : isTakenBack(entry, address.key) ? "rollback" : "capture", reads: [], chain: [] })
    else writers.push({ by: line[1], reads: readsOf(work, run), chain: await chainOf(archive, entry, entry.in[line[0]]!) })
  }
  return { address: address.text, value: valueAt(cell[3][0], address), before: valueAt(cell[2][0], address), beat: row.beat, writers }
}

/** The newest entry in which what lies at an address changed. */
const lastWrite = async (archive: Archive, address: Address.Address): Promise<{ readonly row: JournalRow; readonly cell: Journal.CellLine } | undefined> => {
  for (const row of Rows.downFrom(archive, archive.store.head().beat)) {
    const pause = archive.rest()
    if (pause !== undefined) await pause
    // The key stands in the text between quotes, so most entries need not be parsed.
    if (!row.text.includes(`["${address.key}",`)) continue
    const cell = Journal.parse(row.text).cells.find(([key]) => key === address.key)
    if (cell !== undefined && !Values.equals(valueAt(cell[2][0], address), valueAt(cell[3][0], address))) return { row, cell }
  }
  return undefined
}

/** Whether a rollback gave a document the value of then. */
const isTakenBack = ({ control = [] }: Journal.Parsed, document: string): boolean =>
  control.some((line) => line[0] === "cutover" && line[3].some(([key]) => key === document))

const valueAt = (value: unknown, address: Address.Address): Value =>
  value === undefined ? undefined : Document.read(Document.decode(JSON.stringify(value)), address.path)

/** Whether a run wrote at an address, as far as its writes are known. */
const touches = (work: BeatWork | undefined, run: number, address: Address.Address): boolean => {
  const own = work?.runs[run]?.draft?.own
  const place = own?.keys.indexOf(address.key) ?? -1
  // What a run has launched is numbered when it is merged, and is no write of its own.
  return own === undefined || place < 0 || own.writes[place]!.some((write) => Address.overlaps(write.address.path, address.path))
}

const readsOf = (work: BeatWork | undefined, run: number): ReadonlyArray<Seen> => {
  return seenBy(work?.runs[run]?.draft)
}

const seenBy = (draft: Draft | undefined): ReadonlyArray<Seen> => {
  const reads = draft?.reads
  return reads === undefined ? [] : reads.addresses.map((address, i) => {
    const document = reads.documents[i]
    return { address: address.text, value: document === CHILDREN ? "(the names below)" : Document.read(document, address.path) }
  })
}

/** The signals that led to a handling, the newest first. */
const chainOf = async ({ rest, store }: Archive, entry: Journal.Parsed, input: Journal.In): Promise<ReadonlyArray<Link>> => {
  const chain: Array<Link> = []
  let [here, current]: [Journal.Parsed, Journal.In] = [entry, input]
  for (let depth = 0; depth < MAX_CHAIN; depth++) {
    const pause = rest()
    if (pause !== undefined) await pause
    const id = Journal.idOf(current)
    const sender = Number(id.split(".")[0])
    const row = Number.isSafeInteger(sender) && id.includes(".") ? store.entry(sender) : undefined
    const sent = row === undefined ? undefined : sentIn(Journal.parse(row.text), id)
    const paths = sent?.paths ?? pathsOf(current)
    chain.push({ id, ...paths, beat: here.beat, sentBy: sent?.enzyme })
    if (sent?.input === undefined) return chain
    here = sent.entry
    current = here.in[sent.input]!
  }
  return chain
}

/** Who sent a signal, in the entry of the beat that did. */
const sentIn = (entry: Journal.Parsed, id: string) => {
  for (const line of entry.runs) {
    const emissions = typeof line[2] === "object" ? (line[3] as ReadonlyArray<Journal.Emitted> | undefined) ?? [] : []
    const found = emissions.find((emission) => emission[0] === id)
    if (found !== undefined) return { entry, input: line[0], enzyme: line[1], paths: pathsOf(["", found[1], found[2]]) }
  }
  const awaited = entry.sent?.find((awaited) => awaited[0] === id)
  // A watcher of an operation had it sent, and no signal of this beat alone led to that.
  return awaited === undefined ? undefined : { entry, input: undefined, enzyme: "commit", paths: pathsOf(["", awaited[1], awaited[2]]) }
}

const pathsOf = (input: Journal.In): Pick<Link, "signal" | "target"> => {
  const [signal, target] = typeof input === "string" ? [0, 0] : "id" in input ? [input.signal, input.target] : [input[1], input[2]]
  return { signal: signal === 0 ? undefined : String(signal), target: target === 0 ? undefined : String(target) }
}
