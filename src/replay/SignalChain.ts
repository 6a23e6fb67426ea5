/**
 * Chains of signals: the signals and requests that led to a handling, back to the ingress.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import * as OwnId from "../kernel/model/OwnId.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { RunRecord } from "../kernel/journal/RunLine.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"
import { isScheduled } from "../kernel/model/SchedulePlan.ts"
import * as Requests from "../reactor/Request.ts"

/** A request whose result is a link of a chain. */
export interface RequestLink {
  readonly rid: string
  readonly channel: string
  readonly opcode: string
  readonly state: string
  /** The code of its failure. */
  readonly code: string | undefined
  /** The beat that asked for it, and the enzyme. */
  readonly beat: number
  readonly enzyme: string | undefined
}

/** A signal that led to a value, with its sender and the beat that handled it. */
export interface Link {
  /** The id of the signal. The name of a segment of a durable run follows it: `<event>#/segment/<k>`. */
  readonly id: string
  /** The id as the caller of the event gave it, until its receipt is pruned. */
  readonly own?: string
  readonly signal: string | undefined
  readonly target: string | undefined
  /** The beat that took it. */
  readonly beat: number
  /** The enzyme that sent it, `schedule` or `commit`; `undefined` if it came through the ingress. */
  readonly sentBy: string | undefined
  /** The request with this signal as its result. The next link is the signal on which it was asked for. */
  readonly request?: RequestLink
}

/** The maximum number of links in a chain. */
const MAX_CHAIN = 1000

/** A run, and its entry. */
interface Cause {
  readonly entry: Journal.Entry
  readonly run: RunRecord
}

/**
 * Returns the signals that led to a run, newest first.
 */
export const of = async (history: HistorySource, last: Cause): Promise<ReadonlyArray<Link>> => {
  const chain: Array<Link> = []
  for (let cause: Cause | undefined = last; cause !== undefined && chain.length < MAX_CHAIN;) {
    const pause = history.rest()
    if (pause !== undefined) await pause
    cause = follow(history, cause, chain)
  }
  return chain
}

/** Adds the link of a run. Returns the run that sent its signal, or that asked for its request. */
const follow = (history: HistorySource, { entry: handled, run }: Cause, chain: Array<Link>): Cause | undefined => {
  const input = Records.inputsOf(handled)[run.input]
  if (input === undefined) return undefined
  const entry = entryAt(history, Number(input.id.includes(".") ? input.id.split(".")[0] : NaN))
  const sending = entry && Records.sentIn(entry).get(input.id)
  const { signal, target } = sending?.signal ?? input
  // A signal of the beat itself has no single predecessor, unless it is the result of a request.
  const sentBy = sending === undefined ? undefined : sending.run?.enzyme ?? (isScheduled(input.id) ? "schedule" : "commit")
  const asking = sending?.signal.awaits === undefined ? undefined : askingRun(history, target)
  const request = asking && askedIn(history, target)
  const own = OwnId.ownField(OwnId.ownOf(history.store, input.id))
  const link = { id: Records.nameOf(input, run), ...own, signal, target, beat: handled.beat, sentBy }
  chain.push(request === undefined ? link : { ...link, request })
  return entry === undefined || sending?.run === undefined ? asking : { entry, run: sending.run }
}

/**
 * Returns the signals that led to the request with a cell; none for another cell.
 */
export const ofRequest = async (history: HistorySource, key: string): Promise<ReadonlyArray<Link>> => {
  const cause = askingRun(history, key.split("/").slice(0, 6).join("/"))
  return cause === undefined ? [] : of(history, cause)
}

/**
 * Returns a request as its cell shows it; `undefined` for another cell.
 */
export const askedIn = (history: HistorySource, cell: string | undefined): RequestLink | undefined => {
  const place = Requests.placeOf(cell ?? "")
  const request = Requests.read(documentAt(history, cell ?? ""))
  if (place === undefined || request === undefined) return undefined
  const { channel, code, issued_beat: beat, opcode, state } = request
  return { rid: place.rid, channel, opcode, state, code, beat, enzyme: askingRun(history, cell)?.run.enzyme }
}

/** Returns a document as the newest beat left it. */
export const documentAt = ({ store }: HistorySource, key: string): Document.Document | undefined => {
  const text = store.read(key)
  return text === undefined ? undefined : Document.decode(text)
}

/** Returns the run that asked for the request with a cell. The id of a request names its beat and its run. */
const askingRun = (history: HistorySource, cell: string | undefined): Cause | undefined => {
  const place = Requests.placeOf(cell ?? "")
  if (place === undefined) return undefined
  const [beat, number] = Requests.placesOf(place.rid)
  const entry = entryAt(history, beat)
  const run = entry && Records.ownRunsOf(entry)[number]
  return entry === undefined || run === undefined ? undefined : { entry, run }
}

const entryAt = ({ store }: HistorySource, beat: number): Journal.Entry | undefined => {
  const row = Number.isSafeInteger(beat) ? store.entry(beat) : undefined
  return row && Journal.parse(row.text)
}
