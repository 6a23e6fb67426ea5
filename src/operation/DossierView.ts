/**
 * Dossiers of a space as public reads return them: in lists, and whole.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import * as Dossier from "./Dossier.ts"
import type * as Schemas from "./Schemas.ts"

/** The reads of a store that dossiers take. */
type Rows = Pick<SpaceStore, "below" | "read">

/** The most history entries and watchers shown of one operation. */
const MAX_SHOWN = 100

/** An operation in a list. */
export type OperationRow = ReturnType<typeof Schemas.row>["Type"]

/** A whole dossier: the newest entries of a long history, and the first of many watchers. */
export type OperationDossier = ReturnType<typeof Schemas.dossier>["Type"]

/** Signals sent to other spaces after the target beat of a rollback, which are not undone: their number, and the first of them. */
export type SentSince = NonNullable<OperationDossier["sent"]>

/**
 * The whole dossier of an operation; `undefined` if it does not exist.
 */
export const find = (store: Rows, oid: string): OperationDossier | undefined => {
  const row = Dossier.isOid(oid) ? rowOf(store, oid) : undefined
  if (row === undefined) return undefined
  const envelope = Dossier.address(oid, "envelope")
  const { issued_beat, ttl } = read(store, envelope.key) as unknown as { readonly issued_beat: number; readonly ttl: number }
  const seal = Dossier.address(oid, "close")
  const close = read(store, seal.key) as unknown as { readonly status: string; readonly closed_beat: number } | undefined
  const sent = read(store, Dossier.address(oid, "sent").key) as unknown as OperationDossier["sent"]
  const taken = read(store, Dossier.address(oid, "taken").key) as unknown as OperationDossier["taken"]
  const runs = read(store, Dossier.address(oid, "runs").key) as unknown as OperationDossier["runs"]
  return {
    ...row,
    ...(sent === undefined ? {} : { sent }),
    ...(taken === undefined ? {} : { taken }),
    ...(runs === undefined ? {} : { runs }),
    ttl,
    issued_beat,
    history: historyOf(store, oid),
    waiting: waitingOf(store, oid),
    ...valued("payload", read(store, Dossier.payloadOf(envelope).key)),
    close: close === undefined ? null : {
      status: close.status,
      closed_beat: close.closed_beat,
      ...valued("summary", read(store, Dossier.payloadOf(seal).key))
    }
  }
}

/** A field with a value; no field without one. */
const valued = <Name extends string>(name: Name, value: Value): { readonly [_ in Name]?: Value } =>
  (value === undefined ? {} : { [name]: value }) as { readonly [_ in Name]?: Value }

const read = (store: Rows, key: string): Value => {
  const text = store.read(key)
  return text === undefined ? undefined : Document.read(Document.decode(text), [])
}

/** The list row of an operation; `undefined` if it does not exist. */
export const rowOf = (store: Rows, oid: string): OperationRow | undefined => {
  const live = Dossier.live(read(store, Dossier.address(oid).key))
  if (live === undefined) return undefined
  const { mode, target, verb } =
    read(store, Dossier.address(oid, "envelope").key) as unknown as Pick<OperationRow, "verb" | "target" | "mode">
  const { code, note, state, status = null, watchers } = live
  return { oid, verb, target, mode, state, code, ...(note === undefined ? {} : { note }), status, watchers }
}

const historyOf = (store: Rows, oid: string): OperationDossier["history"] => {
  const { hist_next } = Dossier.live(read(store, Dossier.address(oid).key))!
  const first = Math.max(1, hist_next - MAX_SHOWN)
  return Array.from(
    { length: hist_next - first },
    (_, i) => ({ number: first + i, ...read(store, Dossier.historyAddress(oid, first + i).key) as object })
  ) as unknown as OperationDossier["history"]
}

const waitingOf = (store: Rows, oid: string): OperationDossier["waiting"] => {
  const folder = Dossier.address(oid, "watchers").id
  return store.below(folder, { limit: 2 * MAX_SHOWN })
    .filter((key) => !key.slice(folder.length + 1).includes("/"))
    .slice(0, MAX_SHOWN)
    .map((key) => ({ number: Dossier.numberOf(key.slice(folder.length + 1)), ...read(store, key) as unknown as Dossier.Watcher }))
    .sort((a, b) => a.number - b.number)
}
