/**
 * Receipts: the outcomes of an event's handlings, as a view of the journal.
 *
 * Receipts are not stored. They are read from the journal's entries, and an index
 * row names the beat if the event's id does not. A minted id contains the beat
 * that is expected to capture it. The row of a caller's id holds a digest of the
 * payload, so a duplicate is recognized after the journal is pruned.
 *
 * @module
 */
import type { Label } from "../../../cell/Label.ts"
import * as Cells from "../../../durable/Cells.ts"
import type { Value } from "../../../cell/Value.ts"
import * as Codec from "../../../cell/Document.ts"
import type { CodePlace } from "../../../diagnostic/CodePlace.ts"
import type { ReceiptRow, SpaceStore } from "../../../persistence/Persistence.ts"
import type { InFlight, Handling } from "../../model/InFlight.ts"
import type { RunRecord } from "../../journal/RunLine.ts"
import * as Journal from "../../journal/Journal.ts"
import * as Records from "../../journal/JournalRecords.ts"
import * as LabelCheck from "./LabelCheck.ts"
import type { HandlingReceipt, Receipt } from "../../model/Receipt.ts"
import { ownField, ownIn } from "../../model/OwnId.ts"
import { expectedBy } from "../../model/Signal.ts"

/** The digest of a payload, stored with a caller's id: 32 hexadecimal digits. */
export const digest = (text: string, hash: (text: string) => string): string => hash(text).slice(0, 32)

const none: ReadonlyArray<ReceiptRow> = []

/** Replaces the remaining enzymes of an event that a rollback dropped. It is no valid enzyme name. */
const DISCARDED = "(discarded)"

/**
 * The index rows of an event after a beat.
 *
 * Each beat that runs a caller's event renews the row of its id, so retention counts from the last one.
 */
export const rowsOf = (flight: InFlight, beat: number, hash: (text: string) => string): ReadonlyArray<ReceiptRow> => {
  const { captured, discarded, over, signal } = flight
  const { event, expected, id, label, origin, own, payload } = signal
  if (!event || (captured === beat && expected === beat)) return none
  const rows: Array<ReceiptRow> = []
  const known = { ...ownField(own), ...labelField(label) }
  if (origin === "caller") rows.push({ id, enzyme: "", beat: captured, digest: digest(payload?.text ?? "", hash), ...known })
  else if (captured === beat) rows.push({ id, enzyme: "", beat })
  if (captured !== beat && discarded) rows.push({ id, enzyme: DISCARDED, beat })
  if (captured !== beat) for (const handling of over) if (handling.beat === beat) rows.push({ id, enzyme: handling.key, beat })
  return rows
}

/** The receipt of a completed event, from memory. */
export const ofFlight = (flight: InFlight): Receipt => {
  // After a redelivery, the last handling of the enzyme counts.
  const handlings = [...new Map(flight.over.map((handling) => [handling.key, ofHandling(handling)])).values()]
  const status = flight.discarded ? "discarded" : handlings.length === 0 && flight.cycle ? "cycle" : statusOf(handlings)
  const { id, label, own } = flight.signal
  return { id, ...ownField(own), status, beat: flight.captured, handlings, ...labelField(label) }
}

/** The label in records that have a place for one. */
export const labelField = (label: Label | undefined): { readonly label?: Label } =>
  label === undefined || label.length === 0 ? {} : { label }

/** The number of segments of a run that had several. */
const segmented = (last: number | undefined): { readonly segments?: number } =>
  last === undefined || last === 0 ? {} : { segments: last + 1 }

/** The receipt of a handling. A durable run that heard the signal is named after its operation, and its value has its enzyme. */
const taken = (receipt: HandlingReceipt): HandlingReceipt => {
  const { enzyme: run, value, ...place } = receipt
  if (!Cells.isName(run)) return receipt
  const { enzyme, ...rest } = value as { readonly enzyme?: string }
  // An entry of semantics 1 does not have it.
  return enzyme === undefined ? receipt : { enzyme, run, ...place, value: rest }
}

/** The part of a receipt that tells its handling from others of the event. */
const nameOf = ({ enzyme, run }: HandlingReceipt): string => run ?? enzyme

const ofHandling = ({ attempt, beat, key, label, outcome, segment }: Handling): HandlingReceipt => {
  const place = { enzyme: key, beat, attempt, ...segmented(segment), ...labelField(label) }
  if (outcome?.kind === "ok") {
    return taken({ ...place, outcome: "ok", value: outcome.result === undefined ? {} : Codec.read(outcome.result, []) })
  }
  if (outcome === undefined || !("code" in outcome)) return { ...place, outcome: "dead", value: {} }
  const { at, code, message, tag } = outcome
  return { ...place, outcome: "dead", value: {}, error: { tag, code, message, ...at } }
}

/**
 * The receipt of an event that a beat completed.
 *
 * Handlings of earlier beats are read from the journal if a restart dropped them from memory. So is an event whose begin
 * is pruned, because every later reader finds it so.
 */
export const receiptOf = (store: SpaceStore, flight: InFlight, beat: number): Receipt =>
  flight.captured === beat || (!flight.isRevived && flight.captured > store.anchor().beat)
    ? ofFlight(flight)
    : find(store, flight.signal.id, false) ?? ofFlight(flight)

/** The receipt of an event, from the journal; `undefined` for an id in no entry and in no index row. */
export const find = (store: SpaceStore, id: string, isOpen: boolean): Receipt | undefined => {
  const rows = store.receipts(id)
  const captured = rows.find((row) => row.enzyme === "")?.beat ?? expectedBy(id)
  if (captured === undefined || !Number.isSafeInteger(captured)) return undefined
  const first = read(store, captured, id)
  if (first === undefined && rows.length === 0) return undefined
  // A forgotten id may be reused, and the entries before its new capture belong to another event.
  const beats = new Set(rows.flatMap(({ beat }) => beat > captured ? [beat] : []))
  const later = [...beats].sort((a, b) => a - b).flatMap((beat) => read(store, beat, id)?.handlings ?? [])
  const isDiscarded = rows.some(({ enzyme }) => enzyme === DISCARDED)
  // After a redelivery, the last handling of the enzyme counts.
  const handlings = [...new Map([...first?.handlings ?? [], ...later].map((handling) => [nameOf(handling), handling])).values()]
  const status = isOpen ? "pending" : first === undefined ? "pruned" : isDiscarded ? "discarded" : first.unhandled ?? statusOf(handlings)
  const label = first === undefined ? rows.find(({ label }) => label !== undefined)?.label : first.label
  return { id, ...ownField(ownIn(rows)), status, beat: captured, handlings, ...labelField(label) }
}

/** The target of an event, if the journal still tells it. */
export type Target = { readonly is: "known"; readonly target: string | undefined } | { readonly is: "unknown" }

/** The target of an event that a beat captured. */
export const targetIn = (store: Pick<SpaceStore, "entry">, { beat, id }: Pick<Receipt, "beat" | "id">): Target => {
  const row = beat === undefined ? undefined : store.entry(beat)
  const input = row && Records.inputsOf(Journal.parse(row.text)).find((input) => input.id === id)
  return input === undefined || (input.signal === undefined && input.target === undefined)
    ? { is: "unknown" }
    : { is: "known", target: input.target }
}

/** The status of an event whose handlings are over. */
export const statusOf = (handlings: ReadonlyArray<Pick<HandlingReceipt, "outcome">>): Receipt["status"] =>
  handlings.length === 0 ? "no-match" : handlings.some(({ outcome }) => outcome === "dead") ? "dead" : "handled"

/** The digest of the payload of a caller's event; `undefined` for an unused id. */
export const digestOf = (store: SpaceStore, id: string): string | undefined =>
  store.receipts(id).find((row) => row.digest !== undefined)?.digest

/** The part of an entry about one event. */
interface EntryPart {
  /** The reason for which no enzyme handled the event. */
  readonly unhandled: "cycle" | "discarded" | undefined
  readonly handlings: ReadonlyArray<HandlingReceipt>
  readonly label: Label | undefined
}

/** Reads the handlings of an event from the entry of a beat. */
const read = (store: SpaceStore, beat: number, id: string): EntryPart | undefined => {
  const row = store.entry(beat)
  if (row === undefined) return undefined
  const entry = Journal.parse(row.text)
  const runs = Records.runsOf(entry)
  const handlings: Array<HandlingReceipt> = []
  let found = false
  let unhandled: EntryPart["unhandled"]
  let told: Label | undefined
  Records.inputsOf(entry).forEach((input, i) => {
    if (input.id !== id) return
    found = true
    told = LabelCheck.at(entry.labels?.in, i)
    const attempt = input.again?.attempt ?? 1
    let number = -1
    for (const run of runs) {
      const isOwn = Records.isOwn(run)
      if (isOwn) number++
      if (run.input !== i) continue
      if (run.kind === "cycle" || run.kind === "discarded") unhandled = run.kind
      const [message, at] = [entry.messages.get(number), entry.places.get(number)]
      const label = labelField(isOwn ? LabelCheck.at(entry.labels?.runs, number) : told)
      const receipt = ofRun(run, { beat, attempt, message, at, ...segmented(input.again?.segment), ...label })
      if (receipt !== undefined) handlings.push(receipt)
    }
  })
  return found ? { unhandled, handlings, label: told } : undefined
}

interface RunContext {
  readonly beat: number
  readonly attempt: number
  readonly message: string | undefined
  readonly at: CodePlace | undefined
  readonly segments?: number
  readonly label?: Label
}

/** The receipt of a handling; `undefined` if it was not over. */
const ofRun = (run: RunRecord, { at, message, ...place }: RunContext): HandlingReceipt | undefined => {
  const { enzyme } = run
  if (run.kind === "ok") return taken({ enzyme, outcome: "ok", ...place, value: run.value.length === 0 ? {} : revive(run.value[0]) })
  if (run.kind === "heard") return taken({ enzyme, outcome: "ok", ...place, value: revive(run.heard) })
  if (run.kind !== "dead" && run.kind !== "fatal") return undefined
  const error = { tag: run.tag, code: run.code, message: message ?? "", ...at }
  return { enzyme, outcome: "dead", ...place, value: {}, error }
}

const revive = (value: unknown): Value => Codec.read(Codec.decode(JSON.stringify(value)), [])
