/**
 * The checksums of a store's rows.
 *
 * Each kind of row has one function here, so that writers and readers use the same checksum. A row with a wrong
 * checksum is refused with `store/damaged`.
 *
 * @module
 */
import * as Checksum from "../Checksum.ts"
import { PersistenceError, StoreDamaged } from "../PersistenceError.ts"

/** The store of a row, for error messages. */
export interface Store {
  readonly space: string
  readonly place: string
}

/** The columns of a journal row other than the text that its digest covers. */
export interface JournalColumns {
  readonly beat: number
  readonly clock: number
  readonly size: number
  readonly hash: string
  readonly callers: string | null
  /** The whole text; the digest covers its first line. */
  readonly text: string
}

export const cell = (stored: string, text: string): number => Checksum.ofText(text, Checksum.ofText(stored))
export const queued = (seq: number, id: string | null, text: string): number => Checksum.ofText(text, Checksum.ofValues(seq, id))
export const observation = (node: string, text: string): number => Checksum.ofText(text, Checksum.ofText(node))
export const receipt = (id: string, enzyme: string, beat: number): number => Checksum.ofValues(id, enzyme, beat)
export const blob = ([hash, epoch, upload, code]: readonly [hash: string, epoch: number, upload: number, code: number]): number =>
  Checksum.ofValues(hash, epoch, upload, code)
export const callers = (age: number, text: string): number => Checksum.ofText(text, Checksum.ofValues(age))
export const part = (part: number, bytes: Uint8Array): number => Checksum.ofBytes(bytes, part)

/** Covers the lines after the first one, which no digest covers. */
export const journal = ({ beat, callers, clock, hash, size, text }: JournalColumns): number => {
  const end = text.indexOf("\n")
  const sum = Checksum.ofValues(beat, clock, size, hash, callers, end < 0 ? text.length : end)
  return end < 0 ? sum : Checksum.ofText(text, sum, end)
}

/** Creates the error of a row with a wrong checksum. */
export const damagedRow = ({ place, space }: Store, row: string): PersistenceError =>
  new PersistenceError({ reason: new StoreDamaged({ space, place, detail: `${row} is not what was written there` }) })
