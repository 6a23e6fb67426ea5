/**
 * The waiting list of a space: from the rows of the store, a page at a time.
 *
 * Each pending signal and attempt has one row. The list is a view of these rows, with
 * the reasons from the current inbox.
 *
 * @module
 */
import type * as Contract from "../../contract/Signals.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as Awaited from "../model/Awaited.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import { PendingSignal, runName, type Signal } from "../model/Signal.ts"
import { MAX_ROWS } from "./PageTurns.ts"

/** The members of the state of a space that the waiting list uses. */
export type State = Pick<LiveState, "bindings" | "clock" | "enzymes" | "inbox" | "mode" | "store">

/** The reason for which a signal or an attempt waits. */
export type Reason = WaitingRow["why"]

/**
 * A pending signal, or a pending attempt.
 *
 * @category models
 * @since 0.1.0
 */
export type WaitingRow = ReturnType<typeof Contract.waitingRow>["Type"]

/** A page in the order of arrival, and the sequence number to continue after; `undefined` at the end. */
export interface WaitingPage {
  readonly waiting: ReadonlyArray<WaitingRow>
  readonly next: number | undefined
}

/** A row with its pending signal. */
export interface FoundRow {
  readonly pending: PendingSignal
  readonly row: WaitingRow
}

/** Some rows, and the sequence number to continue after; `undefined` at the end. */
export interface FoundPage {
  readonly found: ReadonlyArray<FoundRow>
  readonly next: number | undefined
}

/**
 * At most `limit` rows after a sequence number, of those that `admits` lets through. It looks at no more than
 * {@link MAX_ROWS}, so a page can be short before the end.
 */
export const find = (
  state: State,
  { after = -1, limit }: { readonly after?: number | undefined; readonly limit: number },
  admits: (pending: PendingSignal) => boolean
): FoundPage => {
  const found: Array<FoundRow> = []
  let looked = 0
  let next: number | undefined
  for (const stored of state.store.queue(after)) {
    if (found.length >= limit || looked === MAX_ROWS) return { found, next }
    const pending = PendingSignal.fromRow(stored)
    looked++
    next = pending.seq
    if (admits(pending)) found.push({ pending, row: rowOf(pending, state) })
  }
  return { found, next: undefined }
}

/**
 * A page of all rows.
 */
export const page = (state: State, request: { readonly after?: number | undefined; readonly limit: number }): WaitingPage => {
  const { found, next } = find(state, request, () => true)
  return { waiting: found.map(({ row }) => row), next }
}

const rowOf = (pending: PendingSignal, state: State): WaitingRow => {
  const { again, due, signal: { id, own, signal, target } } = pending
  return {
    id,
    ...own === undefined ? {} : { own },
    ...signal === undefined ? {} : { signal },
    ...target === undefined ? {} : { target },
    ...reasonOf(pending, state),
    ...again === undefined ? {} : { enzymes: [again.enzyme], attempt: again.attempt },
    ...due === undefined ? {} : { due: dueOf(due, state.clock.shifted) }
  }
}

/** The fields of a row that a reader sees. Times, addresses and owners are not among them, since they reveal activity. */
const OPEN = ["own", "signal", "target", "why", "code", "enzymes", "attempt"] as const

/** A pending signal as a reader sees it, with the id that its caller gave. Minted ids reveal activity. */
export type ShownWaiting = Pick<WaitingRow, (typeof OPEN)[number]> & { readonly id?: string }

/** The row for a reader. */
export const readerRow = ({ pending, row }: FoundRow): ShownWaiting => {
  const fields = OPEN.flatMap((name) => row[name] === undefined ? [] : [[name, row[name]]])
  return { ...pending.signal.origin === "caller" ? { id: row.id } : {}, ...Object.fromEntries(fields) as Omit<ShownWaiting, "id"> }
}

const dueOf = ({ beat, moment }: NonNullable<PendingSignal["due"]>, shifted: number): NonNullable<WaitingRow["due"]> =>
  ({ ...beat === undefined ? {} : { beat }, ...moment === undefined ? {} : { moment: moment - shifted } })

/** The wait for a document: for its lock, or for the runs that lost it before. */
const contendedFor = (on: string, { locks }: SpaceMode.SpaceMode): Pick<WaitingRow, "why" | "on" | "owner"> => {
  if (!SpaceMode.isLock(on)) return { why: "conflict", on }
  const owner = locks.get(SpaceMode.cellOf(on))
  return { why: "parked", on, ...owner === undefined ? {} : { owner } }
}

const reasonOf = (pending: PendingSignal, state: State): Pick<WaitingRow, "why" | "code" | "on" | "owner" | "enzymes"> => {
  const { again, due, seq, signal, urgent } = pending
  const { bindings, enzymes, inbox, mode } = state
  const resolve = (sent: Signal) => enzymes.resolve(sent.signal, sent.target, Awaited.tableFor(bindings, sent))
  if (pending.leaves) return { why: "leaving", on: signal.to!.space }
  if (inbox.held.has(seq)) return { why: "held", code: "enzyme/held", enzymes: (resolve(signal).leftOut?.() ?? []).map(({ key }) => key) }
  if (mode.gated && !urgent) return { why: "parked", on: "pause" }
  if (again?.why === "gate") return { why: "parked", on: "gate" }
  if (again?.why === "conflict") return contendedFor(again.document ?? "", mode)
  if (again?.why === "segment") return { why: "awaiting", on: runName(signal.id, again.segment) }
  if (again !== undefined) return { why: "retrying" }
  if (due !== undefined) return { why: "delayed" }
  const { lane } = resolve(signal)
  return signal.event && inbox.events.isBehind(signal, lane) ? { why: "lane", on: lane } : { why: "next" }
}
