/**
 * The rows of a store as records of a frame, and back.
 *
 * The text of a row is that of the store. Short fields stand in the key, or on a line before the text.
 *
 * @module
 */
import type { JournalRow, ObservationRow, QueueRow, ReceiptRow } from "../persistence/Persistence.ts"
import { Refusal } from "./FrameRefused.ts"
import * as Record from "./Record.ts"

/** A document by the key of its address. */
export interface Cell {
  readonly key: string
  readonly text: string
}

/** The rows by the type of their records. */
export interface Rows {
  readonly cell: Cell
  readonly journal: JournalRow
  readonly queue: QueueRow
  readonly receipt: ReceiptRow
  readonly observation: Required<ObservationRow> & { readonly text: string }
}

/** A type of records that is a row of a store. */
export type RowType = keyof Rows

/** The form of a row in a record: its key, and its bytes as text. */
interface Form<R> {
  readonly write: (row: R) => readonly [key: string, text: string]
  readonly read: (key: string, text: string) => R | undefined
}

const count = (text: string): number | undefined => /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined

/** The first line of a text, and the rest. */
const divided = (text: string): readonly [line: string, rest: string] | undefined => {
  const end = text.indexOf("\n")
  return end < 0 ? undefined : [text.slice(0, end), text.slice(end + 1)]
}

const isText = (value: unknown): value is string => typeof value === "string"

const isAbsentOrText = (value: unknown): value is string | undefined => value === undefined || isText(value)

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const journal: Form<JournalRow> = {
  write: ({ beat, clock, hash, text }) => [String(beat), `${clock} ${hash}\n${text}`],
  read: (key, text) => {
    const [line, rest] = divided(text) ?? []
    const [, clock, hash] = /^(\d{1,16}) ([0-9a-f]{64})$/.exec(line ?? "") ?? []
    const beat = count(key)
    return beat === undefined || hash === undefined ? undefined : { beat, clock: Number(clock), hash, text: rest! }
  }
}

const queue: Form<QueueRow> = {
  write: ({ id, seq, text }) => [String(seq), `${JSON.stringify(id ?? null)}\n${text}`],
  read: (key, text) => {
    const [line, rest] = divided(text) ?? []
    const [seq, id] = [count(key), json(line ?? "")]
    if (seq === undefined || !(id === null || isText(id))) return undefined
    return { seq, text: rest!, ...id === null ? {} : { id } }
  }
}

const receipt: Form<ReceiptRow> = {
  write: ({ beat, digest, enzyme, id, label, own }) => [JSON.stringify([beat, id, enzyme]), JSON.stringify({ digest, own, label })],
  read: (key, text) => {
    const place = json(key)
    const rest = json(text)
    if (!Array.isArray(place) || typeof rest !== "object" || rest === null) return undefined
    const [beat, id, enzyme] = place as ReadonlyArray<unknown>
    const { digest, label, own } = rest as { readonly digest?: unknown; readonly label?: unknown; readonly own?: unknown }
    if (!Number.isSafeInteger(beat) || !isText(id) || !isText(enzyme) || !isAbsentOrText(digest) || !isAbsentOrText(own)) return undefined
    if (label !== undefined && !(Array.isArray(label) && label.every(isText))) return undefined
    // The label outlives the journal row of the event, so a copy without it would show the receipt to all.
    return {
      id,
      enzyme,
      beat: beat as number,
      ...digest === undefined ? {} : { digest },
      ...own === undefined ? {} : { own },
      ...label === undefined ? {} : { label: label as ReadonlyArray<string> }
    }
  }
}

const forms: { readonly [T in RowType]: Form<Rows[T]> } = {
  cell: { write: ({ key, text }) => [key, text], read: (key, text) => ({ key, text }) },
  journal,
  queue,
  receipt,
  observation: { write: ({ node, text }) => [node, text], read: (node, text) => ({ node, text }) }
}

/** The record of a row. */
export const write = <T extends RowType>(type: T, row: Rows[T]): Record.Record => {
  const [key, text] = forms[type].write(row)
  return { type, key, bytes: new TextEncoder().encode(text) }
}

/**
 * The row of a record.
 *
 * @throws Refusal
 */
export const read = <T extends RowType>(type: T, { bytes, key }: Pick<Record.Record, "bytes" | "key">): Rows[T] => {
  const row = forms[type].read(key, Record.textOf(bytes))
  if (row === undefined) throw new Refusal("frame/bounds", `the record "${key.slice(0, 100)}" is no row of type ${type}`)
  return row
}
