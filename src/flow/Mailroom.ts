/**
 * The mailroom: what is put into the lobby, `/data/inbox/<namespace>/<bucket>/<name>`,
 * is staged whole in the inbox of its layer, `/data/<namespace>/inbox/<bucket>/<name>`.
 *
 * Which namespaces and buckets there are is said by the catalogue, one cell
 * `/sys/err_cat/<namespace>` each, whose field `mailroom.buckets` names them. The
 * first-party enzymes `mr_init` and `mr_route` are made of what is here; whoever
 * calls it needs the grant `system`. (Seed 001, "Mailroom updates"; semantics,
 * section 5.6.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Link from "../cell/Link.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Transaction } from "../stage/Transaction.ts"

/** Where requests are put. */
export const LOBBY = "/data/inbox"

/** Where the catalogue lies. */
export const CATALOGUE = "/sys/err_cat"

/** The signal that tells of a cell that was added. */
export const ADDED = "/CEP:sig_cell/CEP:op_add"

/** The enzymes that take in what is staged, after whoever routes it. */
export const ingest: ReadonlyArray<string> = ["coh_ing_be", "coh_ing_bo", "coh_ing_ctx", "fl_ing", "ni_ing", "inst_ing"]

/** What there is where the catalogue says nothing. */
const otherwise: Readonly<Record<string, ReadonlyArray<string>>> = {
  coh: ["be_create", "bo_upsert", "ctx_upsert"],
  flow: ["fl_upsert", "ni_upsert", "inst_start", "inst_event", "inst_ctrl"]
}

/** Most buckets of one namespace. */
export const MAX_BUCKETS = 1000

/**
 * A request in the lobby is none.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", { address: Schema.String }) {
  readonly code = "mailroom/request"
  override get message() {
    return `What lies at ${this.address} is no object, so it cannot be staged as a request. Put fields there`
  }
}

/**
 * A namespace or one of its buckets cannot be named so, or there are too many.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidNamespace extends Schema.TaggedError<InvalidNamespace>()("InvalidNamespace", { name: Schema.String, reason: Schema.String }) {
  readonly code = "mailroom/namespace"
  override get message() {
    return `The namespace ${JSON.stringify(this.name.slice(0, 200))} is refused: ${this.reason}`
  }
}

/**
 * Makes the buckets that the catalogue names. Where it is damaged, nothing is made, and that is reported: false.
 *
 * @category combinators
 * @since 0.1.0
 */
export const bootstrap = (tx: Transaction): boolean => {
  const scopes = tx.list(CATALOGUE)
  const found = scopes.map((scope) => [scope, bucketsOf(tx.get(`${CATALOGUE}/${scope}`))] as const)
  for (const [scope, buckets] of found) {
    if (typeof buckets !== "string") continue
    tx.report({ severity: "sev:crit", topic: "mailroom/catalog", note: `mailroom.catalog scope=${scope} issue=${buckets}`, subject: `${CATALOGUE}/${scope}` })
    return false
  }
  for (const [name, buckets] of scopes.length === 0 ? Object.entries(otherwise) : found as ReadonlyArray<readonly [string, ReadonlyArray<string>]>) make(tx, name, buckets)
  return true
}

/**
 * Adds buckets to a namespace, which is entered in the catalogue; they are there at once.
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
  if (all.length > MAX_BUCKETS) throw new InvalidNamespace({ name, reason: `it would have ${all.length} buckets, and the limit is ${MAX_BUCKETS}` })
  const entries = Object.fromEntries(all.map((bucket) => [bucket, {}]))
  if (typeof known === "string") tx.set(place, { mailroom: { buckets: entries } })
  else tx.merge(`${place}#/mailroom`, { buckets: entries })
  make(tx, name, buckets)
}

/** The buckets that a cell of the catalogue names, or what is wrong with it. */
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
    for (const cell of [`${LOBBY}/${namespace}/${bucket}`, `/data/${namespace}/inbox/${bucket}`]) if (tx.get(cell) === undefined) tx.set(cell, {})
  }
}

/**
 * Routes what was put at an address. What does not lie in the lobby, or goes where there is no such bucket, is left alone. A request
 * whose name came before is taken out of the lobby, and that is told.
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
  // Told of again, the lobby still shows what is staged; anything else is another request of that name.
  const isAnother = !Values.equals(tx.get(address), staged)
  tx.delete(address)
  if (isAnother) tx.report({ severity: "sev:usage", topic: "mailroom/duplicate", note: `${address} came before, and what lay there now is not staged`, subject: goal })
}

/**
 * Stages one request whole, leaves a link to it in the lobby and tells of it. False where there is no place for it, or its name came before: then nothing changes.
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
  tx.set(goal, { ...request, original: request["original"] ?? request, outcome: "pending", meta: { parents: [address], txn: { state: "committed" } } })
  tx.set(address, Link.make(goal))
  tx.signal({ signal: ADDED, target: goal })
  return true
}

/** Where a request goes; `undefined` for what is none, and where there is no such bucket. */
const goalOf = (tx: Transaction, address: string): string | undefined => {
  const match = /^\/data\/inbox\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(address)
  if (match === null) return undefined
  const [, namespace, bucket, name] = match
  return tx.get(`/data/${namespace}/inbox/${bucket}`) === undefined ? undefined : `/data/${namespace}/inbox/${bucket}/${name}`
}
