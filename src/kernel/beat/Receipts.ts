/**
 * Receipts: what became of each event, as a view of the journal.
 *
 * A receipt is not stored: it stands in the journal's entries, and an index row
 * says in which, where the event's id does not. Ids that are minted tell the
 * beat that is expected to capture them. A caller's id has a digest of the
 * payload in its row, by which a second delivery is known for longer than the
 * journal knows the first one. (Architecture, section 5, "Receipts".)
 *
 * @module
 */
import type { Label } from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import * as Codec from "../../cell/Document.ts"
import type { ReceiptRow, SpaceStore } from "../../persistence/Persistence.ts"
import type { Flight, Handling } from "../model/Flight.ts"
import * as Journal from "../model/Journal.ts"
import * as LabelCheck from "./LabelCheck.ts"
import { expectedBy } from "../model/Signal.ts"

/** How one enzyme's handling of an event ended. */
export interface HandlingReceipt {
  readonly enzyme: string
  readonly outcome: "ok" | "dead"
  readonly beat: number
  readonly attempt: number
  /** What the run returned; `{}` where it returned nothing. */
  readonly value: Value
  readonly error?: { readonly tag: string; readonly code: string; readonly message: string }
  /** What it tells, where that is confidential. */
  readonly label?: Label | undefined
}

/** What became of an event. */
export interface Receipt {
  readonly id: string
  /** `pending` while a handling is still to come; `discarded` where a rollback dropped it; `pruned` where all are over, and the journal has let go of how. */
  readonly status: "pending" | "handled" | "no-match" | "cycle" | "dead" | "discarded" | "pruned"
  /** The beat that captured it; `undefined` while it waits. */
  readonly beat: number | undefined
  readonly handlings: ReadonlyArray<HandlingReceipt>
  /** What the event tells, where that is confidential. */
  readonly label?: Label | undefined
}

/**
 * The digest of a payload, as a caller's id is kept with.
 *
 * @category getters
 * @since 0.1.0
 */
export const digest = (text: string, hash: (text: string) => string): string => hash(text).slice(0, 32)

const none: ReadonlyArray<ReceiptRow> = []

/** Stands for the enzymes that an event was still to come to when a rollback dropped it. No enzyme is called so. */
const DISCARDED = "(discarded)"

/**
 * The rows that the index needs of a flight after a beat. Each beat that runs a caller's event writes the row of its id anew, which is so kept from the last of them on.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rowsOf = ({ captured, discarded, over, signal }: Flight, beat: number, hash: (text: string) => string): ReadonlyArray<ReceiptRow> => {
  const { event, expected, id, origin, payload } = signal
  if (!event || (captured === beat && expected === beat)) return none
  const rows: Array<ReceiptRow> = []
  if (origin === "caller") rows.push({ id, enzyme: "", beat: captured, digest: digest(payload?.text ?? "", hash) })
  else if (captured === beat) rows.push({ id, enzyme: "", beat })
  if (captured !== beat && discarded) rows.push({ id, enzyme: DISCARDED, beat })
  if (captured !== beat) for (const handling of over) if (handling.beat === beat) rows.push({ id, enzyme: handling.key, beat })
  return rows
}

/**
 * The receipt of a flight that is over, from memory.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofFlight = (flight: Flight): Receipt => {
  const handlings = flight.over.map(ofHandling)
  const status = flight.discarded ? "discarded" : handlings.length === 0 && flight.cycle ? "cycle" : statusOf(handlings)
  return { id: flight.signal.id, status, beat: flight.captured, handlings, ...labelled(flight.signal.label) }
}

const labelled = (label: Label | undefined): { readonly label?: Label } => label === undefined || label.length === 0 ? {} : { label }

const ofHandling = ({ attempt, beat, key, label, outcome }: Handling): HandlingReceipt => {
  const place = { enzyme: key, beat, attempt, ...labelled(label) }
  if (outcome?.kind === "ok") return { ...place, outcome: "ok", value: outcome.result === undefined ? {} : Codec.read(outcome.result, []) }
  if (outcome === undefined || outcome.kind === "conflict") return { ...place, outcome: "dead", value: {} }
  return { ...place, outcome: "dead", value: {}, error: { tag: outcome.tag, code: outcome.code, message: outcome.message } }
}

/**
 * The receipt of a flight that a beat ended. What was handled before a restart stands in the journal only.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofLanded = (store: SpaceStore, flight: Flight, beat: number): Receipt =>
  flight.captured === beat ? ofFlight(flight) : find(store, flight.signal.id, false) ?? ofFlight(flight)

/**
 * The receipt of an event, from the journal; `undefined` for an id that neither an entry nor the index knows.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (store: SpaceStore, id: string, isOpen: boolean): Receipt | undefined => {
  const rows = store.receipts(id)
  const captured = rows.find((row) => row.enzyme === "")?.beat ?? expectedBy(id)
  if (captured === undefined || !Number.isSafeInteger(captured)) return undefined
  const first = read(store, captured, id)
  if (first === undefined && rows.length === 0) return undefined
  // A caller may use an id again when it is forgotten; what the journal still has of the time before is another event's.
  const beats = new Set(rows.flatMap(({ beat }) => beat > captured ? [beat] : []))
  const later = [...beats].sort((a, b) => a - b).flatMap((beat) => read(store, beat, id)?.handlings ?? [])
  const isDiscarded = rows.some(({ enzyme }) => enzyme === DISCARDED)
  // Of an enzyme that ran anew, sent again from the dead letters, the last handling stands.
  const handlings = [...new Map([...first?.handlings ?? [], ...later].map((handling) => [handling.enzyme, handling])).values()]
  const status = isOpen ? "pending" : first === undefined ? "pruned" : isDiscarded ? "discarded" : first.nobody ?? statusOf(handlings)
  return { id, status, beat: captured, handlings, ...labelled(first?.label) }
}

/**
 * What the handlings that are over make of an event.
 *
 * @category getters
 * @since 0.1.0
 */
export const statusOf = (handlings: ReadonlyArray<Pick<HandlingReceipt, "outcome">>): Receipt["status"] =>
  handlings.length === 0 ? "no-match" : handlings.some(({ outcome }) => outcome === "dead") ? "dead" : "handled"

/** The digest of the payload that a caller's event was captured with; `undefined` for an id that is not taken. */
export const digestOf = (store: SpaceStore, id: string): string | undefined =>
  store.receipts(id).find((row) => row.digest !== undefined)?.digest

interface Said {
  readonly nobody: "cycle" | "discarded" | undefined
  readonly handlings: ReadonlyArray<HandlingReceipt>
  readonly label: Label | undefined
}

/** What an entry says of an event; of one that nobody took, why. */
const read = (store: SpaceStore, beat: number, id: string): Said | undefined => {
  const row = store.entry(beat)
  if (row === undefined) return undefined
  const entry = Journal.parse(row.text)
  const handlings: Array<HandlingReceipt> = []
  let found = false
  let nobody: Said["nobody"]
  let label: Label | undefined
  entry.in.forEach((input, i) => {
    if (Journal.idOf(input) !== id) return
    found = true
    label = LabelCheck.at(entry.labels?.in, i)
    const attempt = typeof input === "object" && "attempt" in input ? input.attempt : 1
    let run = -1
    for (const line of entry.runs) {
      if (Journal.isOwn(line)) run++
      if (line[0] !== i) continue
      if (line[2] === "cycle" || line[2] === "discarded") nobody = line[2]
      const receipt = ofLine(line, { beat, attempt, message: entry.messages.get(run), ...labelled(LabelCheck.at(entry.labels?.runs, run)) })
      if (receipt !== undefined) handlings.push(receipt)
    }
  })
  return found ? { nobody, handlings, label } : undefined
}

interface LineContext {
  readonly beat: number
  readonly attempt: number
  readonly message: string | undefined
  readonly label?: Label
}

/** The receipt that a line of the agenda stands for, where its handling was over. */
const ofLine = (line: Journal.RunLine, { message, ...place }: LineContext): HandlingReceipt | undefined => {
  const [, enzyme, outcome] = line
  if (typeof outcome === "object") return { enzyme, outcome: "ok", ...place, value: outcome.length === 0 ? {} : revive(outcome[0]) }
  if (outcome !== "dead" && outcome !== "fatal") return undefined
  return { enzyme, outcome: "dead", ...place, value: {}, error: { tag: line[3] as string, code: line[4] as string, message: message ?? "" } }
}

const revive = (value: unknown): Value => Codec.read(Codec.decode(JSON.stringify(value)), [])
