/**
 * Durable runs with a result that no beat has taken yet, such as one that arrived while the space was paused. Each has a
 * note.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Cells from "../../durable/Cells.ts"
import * as Note from "../../durable/Note.ts"
import { DEAD } from "../../ledger/RunState.ts"
import * as Dossier from "../../operation/Dossier.ts"
import { below } from "../../persistence/Below.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { CAPTURE, COMMIT, type Stage } from "../../stage/Stage.ts"
import type { Taken } from "../model/InFlight.ts"

/** Notes the runs with a captured result and without a segment in this beat. */
export const captured = (
  stage: Stage,
  resumed: ReadonlySet<string>,
  { hash, taken }: { readonly hash: (text: string) => string; readonly taken: ReadonlyArray<Taken> }
): void => {
  const present = new Set(taken.map(({ flight, pending: { again } }) =>
    again?.segment === undefined ? "" : again.run?.oid ?? Cells.oidOf(flight.signal.id, again.enzyme, hash)))
  for (const oid of resumed) if (!present.has(oid) && isOpen(stage, oid)) mark(stage, oid, CAPTURE)
}

/** Notes the runs with a result of the commit. */
export const committed = (stage: Stage, resumed: ReadonlyArray<string>): void => {
  for (const oid of resumed) if (isOpen(stage, oid)) mark(stage, oid, COMMIT)
}

/** Marks a run, unless it has a note. */
const mark = (stage: Stage, oid: string, writer: number): void => {
  const address = Note.addressOf(oid)
  if (stage.newest(address.key) === undefined) stage.put(address, Note.READY, writer)
}

/** Whether a run has a note. */
export const isNoted = (stage: Stage, oid: string): boolean => stage.newest(Note.addressOf(oid).key) !== undefined

/** Replaces the note on a run that has made a segment. */
export const leave = (stage: Stage, oid: string, note: Note.Note | undefined): void => {
  const address = Note.addressOf(oid)
  if (note !== undefined || stage.newest(address.key) !== undefined) {
    stage.put(address, note === undefined ? undefined : Note.write(note), COMMIT)
  }
}

/** The noted runs of a store, with their notes. */
export function* all(store: Pick<SpaceStore, "below" | "read">): Iterable<readonly [oid: string, note: Note.Note]> {
  for (const key of below(store, Note.FOLDER)) {
    const text = store.read(key)
    yield [key.slice(Note.FOLDER.length + 1), Note.read(text === undefined ? undefined : Document.decode(text))]
  }
}

/** Whether a run goes on by itself. One that was given up takes its results with its letter. */
const isOpen = (stage: Stage, oid: string): boolean => {
  const live = Dossier.live(Document.read(stage.newest(Dossier.address(oid).key), []))
  return live !== undefined && live.status === undefined && live.state !== DEAD
}
