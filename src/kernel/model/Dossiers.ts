/**
 * Dossiers of a space as public reads return them: in lists, and whole.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import * as Dossier from "../../operation/Dossier.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"

/** The reads of a store that dossiers take. */
type Rows = Pick<SpaceStore, "below" | "read">

/** The most history entries and watchers shown of one operation. */
const MAX_SHOWN = 100

/** An operation in a list. */
export interface OperationRow {
  readonly oid: string
  readonly verb: string
  readonly target: string
  readonly mode: string
  readonly state: string
  readonly code: number
  readonly note?: string
  /** The closing status; `null` while it is open. */
  readonly status: string | null
  /** The number of open watchers. */
  readonly watchers: number
}

/** Operations in the order of their cells, and the key of the next page; `undefined` at the end. */
export interface OperationPage {
  readonly operations: ReadonlyArray<OperationRow>
  readonly next: string | undefined
}

/** Signals sent to other spaces after the target beat of a rollback, which are not undone: their number, and the first of them. */
export interface SentSince {
  readonly count: number
  readonly requests: ReadonlyArray<{
    readonly id: string
    readonly beat: number
    readonly space: string
    readonly signal?: string
    readonly target?: string
  }>
}

/** A whole dossier: the newest entries of a long history, and the first of many watchers. */
export interface OperationDossier extends OperationRow {
  readonly ttl: number
  readonly issued_beat: number
  readonly payload: Value
  readonly history: ReadonlyArray<{
    readonly number: number
    readonly beat: number
    readonly state: string
    readonly code: number
    readonly note?: string
  }>
  readonly waiting: ReadonlyArray<Dossier.Watcher & { readonly number: number }>
  /** `undefined` while it is open. */
  readonly close: { readonly status: string; readonly closed_beat: number; readonly summary: Value } | undefined
  /** Of a completed rollback. */
  readonly sent?: SentSince
  /** Of a completed rollback: the requests to the world that it took back, their number and the first of them. */
  readonly taken?: { readonly count: number; readonly requests: ReadonlyArray<Value> }
  /** Of a completed rollback: the durable runs that it took back, their number and the first of them. */
  readonly runs?: { readonly count: number; readonly runs: ReadonlyArray<Value> }
}

/**
 * The whole dossier of an operation; `undefined` if it does not exist.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (store: Rows, oid: string): OperationDossier | undefined => {
  const row = Dossier.isOid(oid) ? rowOf(store, oid) : undefined
  if (row === undefined) return undefined
  const envelope = Dossier.address(oid, "envelope")
  const { issued_beat, ttl } = read(store, envelope.key) as unknown as { readonly issued_beat: number; readonly ttl: number }
  const seal = Dossier.address(oid, "close")
  const close = read(store, seal.key) as unknown as { readonly status: string; readonly closed_beat: number } | undefined
  const sent = read(store, Dossier.address(oid, "sent").key) as unknown as SentSince | undefined
  const taken = read(store, Dossier.address(oid, "taken").key) as unknown as OperationDossier["taken"]
  const runs = read(store, Dossier.address(oid, "runs").key) as unknown as OperationDossier["runs"]
  return {
    ...row,
    ...(sent === undefined ? {} : { sent }),
    ...(taken === undefined ? {} : { taken }),
    ...(runs === undefined ? {} : { runs }),
    ttl,
    issued_beat,
    payload: read(store, Dossier.payloadOf(envelope).key),
    history: historyOf(store, oid),
    waiting: waitingOf(store, oid),
    close: close === undefined
      ? undefined
      : { status: close.status, closed_beat: close.closed_beat, summary: read(store, Dossier.payloadOf(seal).key) }
  }
}

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
