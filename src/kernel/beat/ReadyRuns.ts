/**
 * Durable runs with a result that no beat has taken yet, such as one that arrived while the space was paused.
 *
 * Each is a cell `/sys/index/run/<oid>`, so a space that opens finds them without a look at the runs that wait.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Dossier from "../../operation/Dossier.ts"
import { below } from "../../persistence/Below.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { CAPTURE, COMMIT, type Stage } from "../../stage/Stage.ts"
import type { Taken } from "../model/InFlight.ts"

const FOLDER = "/sys/index/run"
const READY = Document.encode(true)

const addressOf = (oid: string): Address.Address => Address.make(`${FOLDER}/${oid}`)

/**
 * The id of the operation of a durable handling.
 *
 * @category getters
 * @since 0.1.0
 */
export const oidOf = (event: string, key: string, hash: (text: string) => string): string =>
  `OPS:${hash(`${event} ${key}`).slice(0, 32)}`

/** Notes the runs with a captured result and without a segment in this beat. */
export const captured = (
  stage: Stage,
  resumed: ReadonlySet<string>,
  { hash, taken }: { readonly hash: (text: string) => string; readonly taken: ReadonlyArray<Taken> }
): void => {
  const present = new Set(taken.map(({ flight, pending: { again } }) =>
    again?.segment === undefined ? "" : oidOf(flight.signal.id, again.enzyme, hash)))
  for (const oid of resumed) if (!present.has(oid) && isOpen(stage, oid)) stage.put(addressOf(oid), READY, CAPTURE)
}

/** Notes the runs with a result of the commit. */
export const committed = (stage: Stage, resumed: ReadonlyArray<string>): void => {
  for (const oid of resumed) if (isOpen(stage, oid)) stage.put(addressOf(oid), READY, COMMIT)
}

/** Removes the note on a run that has made a segment. */
export const remove = (stage: Stage, oid: string): void => {
  const address = addressOf(oid)
  if (stage.newest(address.key) !== undefined) stage.put(address, undefined, COMMIT)
}

/** The noted runs of a store. */
export function* all(store: Pick<SpaceStore, "below">): Iterable<string> {
  for (const key of below(store, FOLDER)) yield key.slice(FOLDER.length + 1)
}

const isOpen = (stage: Stage, oid: string): boolean => {
  const live = Dossier.live(Document.read(stage.newest(Dossier.address(oid).key), []))
  return live !== undefined && live.status === undefined
}
