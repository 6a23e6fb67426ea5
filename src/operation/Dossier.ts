/**
 * Dossiers: the cells of an operation, under `/rt/ops/<oid>`.
 *
 * The cell itself holds the mutable fields: the state and the counters. Each
 * immutable part has a cell of its own, so the cost of a step is independent of
 * the history's length and the number of watchers [S0 §OPS/STATES Operations].
 *
 *     /rt/ops/<oid>                    { state, code, note?, status?, beat, hist_next, wtch_next, watchers }
 *     /rt/ops/<oid>/envelope           { verb, target, mode, ttl, issued_beat, pipeline?, payload_id? }   sealed
 *     /rt/ops/<oid>/history/OPH:<n>    { beat, state, code, note? }                            append-only
 *     /rt/ops/<oid>/watchers/OPW:<n>   { want, deadline, cont, enzyme, issued_beat, issued_ms, payload_id? }
 *     /rt/ops/<oid>/close              { status, closed_beat, summary_id? }                    sealed
 *
 * `payload_id` and `summary_id` are links to cells below, so a read yields the value without copying it.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Link from "../cell/Link.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"
import type { Pipeline } from "../stage/Launch.ts"

/** The cell that holds all dossiers. */
export const FOLDER = "/rt/ops"

/** The signal to a watcher that expired or can no longer be met. */
export const TIMEOUT = "/op/tmo"

/** Stands for the enzyme of an await from outside. No enzyme has this name. */
export const OUTSIDE = "(outside)"

/** The mutable fields of a dossier. */
export interface Live {
  readonly state: string
  readonly code: number
  readonly note?: string
  /** The closing status, once the operation is closed. */
  readonly status?: string
  /** The beat of the newest history entry. */
  readonly beat: number
  /** The numbers of the next history entry and of the next watcher. */
  readonly hist_next: number
  readonly wtch_next: number
  /** The number of open watchers. */
  readonly watchers: number
}

/** A watcher of a state or a status. */
export interface Watcher {
  readonly want: string
  /** The beat at which it expires; 0 for never. */
  readonly deadline: number
  /** The signal to send. */
  readonly cont: string
  /** The enzyme that receives it, or `(outside)` for the enzymes bound at the operation. */
  readonly enzyme: string
  readonly issued_beat: number
  /** The clock of that beat, in milliseconds since 1970. */
  readonly issued_ms: number
}

/** The address of an operation's cell, or of a cell below it. */
export const address = (oid: string, ...below: ReadonlyArray<string>): Address.Address =>
  Address.make([FOLDER, oid, ...below].join("/"))

export const historyAddress = (oid: string, number: number): Address.Address => address(oid, "history", `OPH:${number}`)

export const watcherAddress = (oid: string, number: number): Address.Address => address(oid, "watchers", `OPW:${number}`)

/** The number of a watcher, from the name of its cell. */
export const numberOf = (name: string): number => Number(name.slice("OPW:".length))

/** The address of the payload of a part of a dossier. */
export const payloadOf = ({ id }: Address.Address): Address.Address => Address.make(`${id}/payload`)

export const linkTo = (place: Address.Address): Link.Link => Link.make(place.text)

/**
 * Whether a text is a valid id of an operation.
 */
export const isOid = (oid: unknown): oid is string => typeof oid === "string" && oid.startsWith("OPS:") && Name.refusal(oid) === undefined

/** Whether an id is not minted by a beat: the dossier is one of the runtime's own work, which alone changes it. */
export const isOfRuntime = (oid: string): boolean => oid.split(".").length !== 3

/**
 * Compares operations by creation: dossiers of ledgers first, then by beat, with those from outside first and those of
 * the commit last.
 */
export const byCreation = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [places(a), places(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2] || (a < b ? -1 : 1)
}

const places = (oid: string): readonly [beat: number, run: number, nth: number] => {
  const [beat, run, nth] = oid.slice("OPS:".length).split(".")
  if (nth === undefined) return [-1, 0, 0]
  return [Number(beat), run === "x" ? -1 : run === "c" ? Infinity : Number(run), Number(nth)]
}

/** The pipeline run that an operation belongs to, by the operation's cell. Its envelope is sealed, so every read is equal. */
export const pipelineOf = (draft: { readonly get: (address: string) => Value }, target: string): Pipeline | undefined =>
  (draft.get(`${target}/envelope`) as { readonly pipeline?: Pipeline } | undefined)?.pipeline

/**
 * The state of an operation in one line.
 */
export const summary = (oid: string, { state, status, watchers }: Live): string =>
  `oid=${oid} state=${state} closed=${status === undefined ? 0 : 1} status=${status ?? "-"} watchers=${watchers}`

/** The mutable fields, from the value of an operation's cell; `undefined` for an absent cell. */
export const live = (value: Value): Live | undefined => value as unknown as Live | undefined
