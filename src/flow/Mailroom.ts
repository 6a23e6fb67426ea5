/**
 * The mailroom: moves each document from the lobby,
 * `/data/inbox/<namespace>/<bucket>/<name>`, atomically to the inbox of its layer,
 * `/data/<namespace>/inbox/<bucket>/<name>`.
 *
 * The catalogue defines the namespaces, one cell `/sys/err_cat/<namespace>` each;
 * its field `mailroom.buckets` names the buckets. The first-party enzymes
 * `mr_init` and `mr_route` use this module. Its callers need the grant `system`
 * [S1 §Technical Details].
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Link from "../cell/Link.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Transaction } from "../stage/Transaction.ts"

/** The folder of requests. */
export const LOBBY = "/data/inbox"

/** The folder of the catalogue. */
export const CATALOGUE = "/sys/err_cat"

/** The signal of an added cell. */
export const ADDED = "/CEP:sig_cell/CEP:op_add"

/** The enzymes that ingest staged requests, after the one that routes them. */
export const ingest: ReadonlyArray<string> = ["coh_ing_be", "coh_ing_bo", "coh_ing_ctx", "fl_ing", "ni_ing", "inst_ing"]

/**
 * The buckets of an empty catalogue. First-party enzymes take requests of `inst_start` and `inst_ctrl`; those of the other ones stay
 * until an enzyme of the application takes them [S1 §Technical Details].
 */
const otherwise: Readonly<Record<string, ReadonlyArray<string>>> = {
  coh: ["be_create", "bo_upsert", "ctx_upsert"],
  flow: ["fl_upsert", "ni_upsert", "inst_start", "inst_event", "inst_ctrl"]
}

/** The most buckets of one namespace. */
export const MAX_BUCKETS = 1000

/**
 * A request in the lobby is not an object.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{ readonly address: string }> {
  readonly code = "mailroom/request"
  override get message() {
    return `What lies at ${this.address} is no object, so it cannot be staged as a request. Put fields there`
  }
}

/**
 * A namespace or bucket name is invalid, or there are too many buckets.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidNamespace extends Data.TaggedError("InvalidNamespace")<{ readonly name: string; readonly reason: string }> {
  readonly code = "mailroom/namespace"
  override get message() {
    return `The namespace ${JSON.stringify(this.name.slice(0, 200))} is refused: ${this.reason}`
  }
}

/**
 * Creates the buckets of the catalogue. A damaged catalogue creates none, is reported, and returns false.
 *
 * @category combinators
 * @since 0.1.0
 */
export const bootstrap = (tx: Transaction): boolean => {
  const scopes = tx.list(CATALOGUE)
  const found = scopes.map((scope) => [scope, bucketsOf(tx.get(`${CATALOGUE}/${scope}`))] as const)
  for (const [scope, buckets] of found) {
    if (typeof buckets !== "string") continue
    tx.report({
      severity: "sev:crit",
      topic: "mailroom/catalog",
      note: `mailroom.catalog scope=${scope} issue=${buckets}`,
      subject: `${CATALOGUE}/${scope}`
    })
    return false
  }
  const named = found as ReadonlyArray<readonly [string, ReadonlyArray<string>]>
  for (const [name, buckets] of scopes.length === 0 ? Object.entries(otherwise) : named) make(tx, name, buckets)
  return true
}

/**
 * Adds buckets to a namespace and to its catalogue cell; they exist at once.
 *
 * @throws InvalidNamespace
 * @category combinators
 * @since 0.1.0
 */
export const addNamespace = (tx: Transaction, name: string, buckets: ReadonlyArray<string>): void => {
  const bad = [name, ...buckets].find((name) => Name.refusal(name) !== undefined)
  if (bad !== undefined) throw new InvalidNamespace({ name, reason: `"${bad.slice(0, 100)}" is no name: ${Name.refusal(bad)}` })
  const place = `${CATALOGUE}/${name}`
  const known = bucketsOf(tx.get(place))
  const all = [...new Set([...typeof known === "string" ? [] : known, ...buckets])]
  if (all.length > MAX_BUCKETS) {
    throw new InvalidNamespace({ name, reason: `it would have ${all.length} buckets, and the limit is ${MAX_BUCKETS}` })
  }
  const entries = Object.fromEntries(all.map((bucket) => [bucket, {}]))
  if (typeof known === "string") tx.set(place, { mailroom: { buckets: entries } })
  else tx.merge(`${place}#/mailroom`, { buckets: entries })
  make(tx, name, buckets)
}

/** The buckets of a catalogue cell, or its fault. */
const bucketsOf = (scope: Value): ReadonlyArray<string> | string => {
  if (!isDictionary(scope)) return "scope-without-dictionary"
  const { mailroom } = scope
  if (mailroom === undefined) return "missing-mailroom-node"
  if (!isDictionary(mailroom)) return "mailroom-node-not-dictionary"
  const { buckets } = mailroom
  if (buckets === undefined) return "missing-mailroom-buckets"
  return isDictionary(buckets) ? Object.keys(buckets) : "mailroom-buckets-not-dictionary"
}

const isDictionary = (value: Value): value is Readonly<Record<string, Value>> => Values.isContainer(value) && !Array.isArray(value)

const make = (tx: Transaction, namespace: string, buckets: ReadonlyArray<string>): void => {
  for (const bucket of buckets) {
    for (const cell of [`${LOBBY}/${namespace}/${bucket}`, `/data/${namespace}/inbox/${bucket}`]) {
      if (tx.get(cell) === undefined) tx.set(cell, {})
    }
  }
}

/**
 * Routes the document at an address. An address outside the lobby, or of an unknown bucket, is ignored. A request with a
 * name that was staged before is removed from the lobby and reported.
 *
 * @throws InvalidRequest
 * @category combinators
 * @since 0.1.0
 */
export const route = (tx: Transaction, address: string): void => {
  const goal = goalOf(tx, address)
  if (goal === undefined || tx.get(address) === undefined) return
  const staged = tx.get(goal)
  if (staged === undefined) return void stage(tx, address)
  // A repeated signal finds the link to the staged document; any other content is another request of that name.
  const isAnother = !Values.equals(tx.get(address), staged)
  tx.delete(address)
  if (isAnother) tx.report({
    severity: "sev:usage",
    topic: "mailroom/duplicate",
    note: `${address} came before, and what lay there now is not staged`,
    subject: goal
  })
}

/**
 * Stages one request atomically, leaves a link to it in the lobby, and signals it. Returns false, without changes, for
 * an unknown bucket or a name that was staged before.
 *
 * @throws InvalidRequest
 * @category combinators
 * @since 0.1.0
 */
export const stage = (tx: Transaction, address: string): boolean => {
  const goal = goalOf(tx, address)
  if (goal === undefined || tx.get(goal) !== undefined) return false
  const request = tx.get(address)
  if (!isDictionary(request)) throw new InvalidRequest({ address })
  tx.set(
    goal,
    { ...request, original: request["original"] ?? request, outcome: "pending", meta: { parents: [address], txn: { state: "committed" } } }
  )
  tx.set(address, Link.make(goal))
  tx.signal({ signal: ADDED, target: goal })
  return true
}

/** The destination of a request; `undefined` for any other address, and for an unknown bucket. */
const goalOf = (tx: Transaction, address: string): string | undefined => {
  const match = /^\/data\/inbox\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(address)
  if (match === null) return undefined
  const [, namespace, bucket, name] = match
  return tx.get(`/data/${namespace}/inbox/${bucket}`) === undefined ? undefined : `/data/${namespace}/inbox/${bucket}/${name}`
}
