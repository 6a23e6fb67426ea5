/**
 * The origin of a value: its writing run, the signals that led to it, and the run's reads.
 *
 * The journal names the writer and the signal. Reads are not stored, so the beat is replayed to observe them. A beat
 * costs no extra work for this until an explanation is requested.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { BeatWork } from "../kernel/beat/BeatWork.ts"
import * as Commands from "../kernel/model/Command.ts"
import * as Journal from "../kernel/model/Journal.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import { CHILDREN } from "../stage/Children.ts"
import type { Draft } from "../stage/Draft.ts"
import { CAPTURE } from "../stage/Stage.ts"
import * as Replay from "./Replay.ts"
import * as JournalRows from "./JournalRows.ts"

/** A signal that led to a value, with its sender and the beat that handled it. */
export interface Link {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  /** The beat that captured it. */
  readonly beat: number
  /** The enzyme that sent it; `undefined` if it came through the ingress. */
  readonly sentBy: string | undefined
}

/** An address that a run read, and the value there. */
export interface Seen {
  readonly address: string
  readonly value: Value
}

/** A writer of a value. */
export interface Writer {
  /** An enzyme or a node, `capture` for a write from outside, `rollback` for a rollback, `commit` for the runtime itself. */
  readonly by: string
  /** The run's earlier reads, if its beat can be replayed. */
  readonly reads: ReadonlyArray<Seen>
  /** The signal that the run handled, its predecessor, and so on back to the ingress. */
  readonly chain: ReadonlyArray<Link>
}

/** The origin of a value. */
export interface Reason {
  readonly address: string
  readonly value: Value
  readonly before: Value
  /** The beat that wrote it. */
  readonly beat: number
  /** The writers in that beat: usually one, several if their writes commute. */
  readonly writers: ReadonlyArray<Writer>
}

/** The maximum number of links in a chain. */
const MAX_CHAIN = 1000

/**
 * Explains the value at an address; resolves to `undefined` if the journal contains no write there.
 *
 * @throws InvalidAddress
 * @category combinators
 * @since 0.1.0
 */
export const why = async (history: HistorySource, text: string): Promise<Reason | undefined> => {
  const address = Address.parse(text)
  const found = await lastWrite(history, address)
  if (found === undefined) return undefined
  const { cell, row } = found
  const entry = Journal.parse(row.text)
  const runs = Journal.ownRuns(entry)
  const work = (await Replay.observe(history, row))?.work
  const writers: Array<Writer> = []
  for (const run of [cell[1]].flat() as ReadonlyArray<number>) {
    if (run >= 0 && !touches(work, run, address)) continue
    const line = runs[run]
    const node = run < runs.length ? undefined : entry.nodes?.[run - runs.length]
    if (node !== undefined) writers.push({ by: node[0], reads: seenBy(work?.nodeDrafts[run - runs.length]), chain: [] })
    else if (line === undefined) writers.push({ by: run !== CAPTURE ? "commit" : isTakenBack(entry, address.key) ? "rollback" : "capture", reads: [], chain: [] })
    else writers.push({ by: line[1], reads: readsOf(work, run), chain: await chainOf(history, entry, entry.in[line[0]]!) })
  }
  return { address: address.text, value: valueAt(cell[3][0], address), before: valueAt(cell[2][0], address), beat: row.beat, writers }
}

/** Returns the newest entry that changed the value at an address. */
const lastWrite = async (history: HistorySource, address: Address.Address): Promise<{ readonly row: JournalRow; readonly cell: Journal.CellLine } | undefined> => {
  for (const row of JournalRows.downFrom(history, history.store.head().beat)) {
    const pause = history.rest()
    if (pause !== undefined) await pause
    // The text contains the key in quotes, so most entries need not be parsed.
    if (!row.text.includes(`["${address.key}",`)) continue
    const cell = Journal.parse(row.text).cells.find(([key]) => key === address.key)
    if (cell !== undefined && !Values.equals(valueAt(cell[2][0], address), valueAt(cell[3][0], address))) return { row, cell }
  }
  return undefined
}

/** Tests whether a rollback restored a document. */
const isTakenBack = ({ control = [] }: Journal.Parsed, document: string): boolean =>
  control.some((line) => {
    const command = line[0] === "cutover" ? Commands.decode(line) : undefined
    return command?.kind === "cutover" && command.writes.some(([key]) => key === document)
  })

const valueAt = (value: unknown, address: Address.Address): Value =>
  value === undefined ? undefined : Document.read(Document.decode(JSON.stringify(value)), address.path)

/** Tests whether a run wrote at an address, as far as its writes are known. */
const touches = (work: BeatWork | undefined, run: number, address: Address.Address): boolean => {
  const own = work?.runs[run]?.draft?.own
  const place = own?.keys.indexOf(address.key) ?? -1
  // Launches of a run are numbered at the merge, and are not its writes.
  return own === undefined || place < 0 || own.writesAt(place).some((write) => Address.overlaps(write.address.path, address.path))
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

/** Returns the signals that led to a handling, newest first. */
const chainOf = async ({ rest, store }: HistorySource, entry: Journal.Parsed, input: Journal.In): Promise<ReadonlyArray<Link>> => {
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

/** Returns the sender of a signal, from the entry of the sending beat. */
const sentIn = (entry: Journal.Parsed, id: string) => {
  for (const line of entry.runs) {
    const emissions = typeof line[2] === "object" ? (line[3] as ReadonlyArray<Journal.Emitted> | undefined) ?? [] : []
    const found = emissions.find((emission) => emission[0] === id)
    if (found !== undefined) return { entry, input: line[0], enzyme: line[1], paths: pathsOf(["", found[1], found[2]]) }
  }
  const awaited = entry.sent?.find((awaited) => awaited[0] === id)
  // A watcher of an operation sent it, and it has no single predecessor in this beat.
  return awaited === undefined ? undefined : { entry, input: undefined, enzyme: "commit", paths: pathsOf(["", awaited[1], awaited[2]]) }
}

const pathsOf = (input: Journal.In): Pick<Link, "signal" | "target"> => {
  const [signal, target] = typeof input === "string" ? [0, 0] : "id" in input ? [input.signal, input.target] : [input[1], input[2]]
  return { signal: signal === 0 ? undefined : String(signal), target: target === 0 ? undefined : String(target) }
}
