/**
 * Notes on durable runs, for their next segments.
 *
 *     /sys/index/run/<oid>   true, or a note
 *
 * The cell also marks a run with a result that no segment has taken yet, so a space that opens finds it without a look at
 * the runs that wait. The commit of a segment removes it.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"

/** The folder of the notes. */
export const FOLDER = "/sys/index/run"

/** How a body went on outside a segment, and the last recorded step by then. */
export interface Stray {
  readonly reason: string
  readonly last: string
}

/** A note on a run. */
export interface Note {
  /** The run is cancelled: `await` fails its open handles, `now` ends it, and `back` ends it because of a rollback. */
  readonly cancel?: "await" | "now" | "back"
  /** Whether a segment with results came before the cancellation. */
  readonly isLate?: boolean
  /** The segment to which a rollback took it back, and the number of signals that it hears there. */
  readonly back?: number
  readonly pairs?: number
  /** How often it was started anew. The number is part of the idempotency keys of its requests. */
  readonly anew?: number
  /** How its body went on outside a segment, which ends the run. */
  readonly stray?: Stray
}

/** The note of a run that has a result. */
export const READY = Document.encode(true)

const none: Note = {}

/** The cell of a note. */
export const addressOf = (oid: string): Address.Address => Address.make(`${FOLDER}/${oid}`)

/** A note from its document; an empty one for no document and for the mark of a result. */
export const read = (document: Document.Document | undefined): Note => {
  const value = Document.read(document, [])
  return typeof value === "object" ? value as unknown as Note : none
}

/** Whether the run ends at once, without a further call of its body. */
export const isEnd = ({ cancel }: Note): boolean => cancel === "now" || cancel === "back"

/** A note as a document. */
export const write = (note: Note): Document.Document => Document.encode(note as unknown as Value)
