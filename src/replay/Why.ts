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
import type { Executed } from "../kernel/beat/Phases.ts"
import * as Commands from "../kernel/model/Command.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import { CHILDREN } from "../stage/write/Children.ts"
import type { Draft } from "../stage/Draft.ts"
import { CAPTURE } from "../stage/Stage.ts"
import * as JournalRows from "./JournalRows.ts"
import type { CellRecord } from "../kernel/journal/CellLine.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"
import * as Replay from "./Replay.ts"
import type { SeenRead, TakenResult } from "./RunResults.ts"
import * as RunResults from "./RunResults.ts"
import type { Link } from "./SignalChain.ts"
import * as SignalChain from "./SignalChain.ts"

/** A writer of a value. */
export interface Writer {
  /** An enzyme or a node, `capture` for a write from outside, `rollback` for a rollback, `commit` for the runtime itself. */
  readonly by: string
  /** The run's earlier reads, if its beat can be replayed. Those of a durable run include its earlier segments. */
  readonly reads: ReadonlyArray<SeenRead>
  /** The results that a durable run had taken by then, if any: at most the newest 100. */
  readonly results?: ReadonlyArray<TakenResult>
  /** The signal that the run handled, its predecessor, and so on back to the ingress, also over requests. */
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
  const [nodes, runs] = [Records.nodesOf(entry.nodes), Records.ownRunsOf(entry)]
  const observed = await Replay.observe(history, row)
  const executed = observed?.executed
  const writers: Array<Writer> = []
  for (const writer of cell.writers) {
    if (writer >= 0 && !touches(executed, writer, address)) continue
    const run = runs[writer]
    const place = writer - runs.length
    const node = nodes[place]
    if (node !== undefined) writers.push({ by: node.name, reads: seenBy(observed?.nodeDrafts[place]), chain: [] })
    else if (run === undefined) {
      const chain = await SignalChain.ofRequest(history, address.key)
      writers.push({ by: runtimeWriter(writer, entry, address.key), reads: [], chain })
    } else {
      const { reads, results } = await RunResults.before(history, executed?.runs[writer])
      const chain = await SignalChain.of(history, { entry, run })
      const by = { by: run.enzyme, reads: [...reads, ...readsOf(executed, writer)], chain }
      writers.push(results.length === 0 ? by : { ...by, results })
    }
  }
  const [value, before] = [valueAt(cell.after, address), valueAt(cell.before, address)]
  return { address: address.text, value, before, beat: row.beat, writers }
}

/** Returns the newest entry that changed the value at an address. */
const lastWrite = async (
  history: HistorySource,
  address: Address.Address
): Promise<{ readonly row: JournalRow; readonly cell: CellRecord } | undefined> => {
  for (const row of JournalRows.downFrom(history, history.store.head().beat)) {
    const pause = history.rest()
    if (pause !== undefined) await pause
    // The text contains the key in quotes, so most entries need not be parsed.
    if (!row.text.includes(`["${address.key}",`)) continue
    const cell = Records.cellsOf(Journal.parse(row.text)).find(({ key }) => key === address.key)
    if (cell !== undefined && !Values.equals(valueAt(cell.before, address), valueAt(cell.after, address))) return { row, cell }
  }
  return undefined
}

/** Returns the name of a writer that is not a run. */
const runtimeWriter = (writer: number, entry: Journal.Entry, document: string): string => {
  if (writer !== CAPTURE) return "commit"
  return isTakenBack(entry, document) ? "rollback" : "capture"
}

/** Tests whether a rollback restored a document. */
const isTakenBack = ({ control = [] }: Journal.Entry, document: string): boolean =>
  control.some((line) => {
    const command = line[0] === "cutover" ? Commands.decode(line) : undefined
    return command?.kind === "cutover" && command.writes.some(([key]) => key === document)
  })

const valueAt = (value: unknown, address: Address.Address): Value =>
  Document.read(Records.documentOf(value), address.path)

/** Tests whether a run wrote at an address, as far as its writes are known. */
const touches = (executed: Executed | undefined, run: number, address: Address.Address): boolean => {
  const own = executed?.runs[run]?.draft?.own
  const place = own?.keys.indexOf(address.key) ?? -1
  // Launches of a run are numbered at the merge, and are not its writes.
  return own === undefined || place < 0 || own.writesAt(place).some((write) => Address.overlaps(write.address.path, address.path))
}

const readsOf = (executed: Executed | undefined, run: number): ReadonlyArray<SeenRead> => {
  return seenBy(executed?.runs[run]?.draft)
}

const seenBy = (draft: Draft | undefined): ReadonlyArray<SeenRead> => {
  const reads = draft?.reads
  return reads === undefined ? [] : reads.addresses.map((address, i) => {
    const document = reads.documents[i]
    return { address: address.text, value: document === CHILDREN ? "(the names below)" : Document.read(document, address.path) }
  })
}
