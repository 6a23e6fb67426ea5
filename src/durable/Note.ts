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
import { below } from "../persistence/Below.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Cells from "./Cells.ts"

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

/** Marks runs with a result that no segment of this beat has taken, unless they have a note. */
export const mark = (stage: Stage, oids: Iterable<string>, writer: number): void => {
  for (const oid of oids) {
    // A run that was given up takes its results with its letter.
    if (Cells.isOpen(oid, (key) => stage.newest(key)) && !isNoted(stage, oid)) stage.put(addressOf(oid), READY, writer)
  }
}

/** Whether a run has a note. */
export const isNoted = (stage: Stage, oid: string): boolean => stage.newest(addressOf(oid).key) !== undefined

/** Replaces the note on a run that has made a segment. */
export const leave = (stage: Stage, oid: string, note: Note | undefined): void => {
  const address = addressOf(oid)
  if (note !== undefined || stage.newest(address.key) !== undefined) {
    stage.put(address, note === undefined ? undefined : write(note), COMMIT)
  }
}

/** The noted runs of a store, with their notes. */
export function* all(store: Pick<SpaceStore, "below" | "read">): Iterable<readonly [oid: string, note: Note]> {
  for (const key of below(store, FOLDER)) {
    const text = store.read(key)
    yield [key.slice(FOLDER.length + 1), read(text === undefined ? undefined : Document.decode(text))]
  }
}
