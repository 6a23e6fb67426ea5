/**
 * Dossiers: what is kept of an operation, as cells under `/rt/ops/<oid>`.
 *
 * The cell itself holds what moves: the state, and how far the numbers of its
 * entries have come. Whatever is written once has a cell of its own, so that a
 * step costs the same however long the history is and however many wait.
 * (Seed 000, "OPS/STATES"; semantics, section 4.1.)
 *
 *     /rt/ops/<oid>                    { state, code, note?, status?, beat, hist_next, wtch_next, watchers }
 *     /rt/ops/<oid>/envelope           { verb, target, mode, ttl, issued_beat, pipeline?, payload_id? }   sealed
 *     /rt/ops/<oid>/history/OPH:<n>    { beat, state, code, note? }                            append-only
 *     /rt/ops/<oid>/watchers/OPW:<n>   { want, deadline, cont, enzyme, issued_beat, issued_ms, payload_id? }
 *     /rt/ops/<oid>/close              { status, closed_beat, summary_id? }                    sealed
 *
 * `payload_id` and `summary_id` are links to cells below, so that reading them
 * gives the value, and what is large is not copied.
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

/** The signal that a watcher gets whose time is over, or whose wish can never come true. */
export const TIMEOUT = "/op/tmo"

/** Stands for the enzyme where somebody outside awaits. No enzyme has this name. */
export const OUTSIDE = "(outside)"

/** What moves in a dossier. */
export interface Live {
  readonly state: string
  readonly code: number
  readonly note?: string
  /** How it was closed, once it was. */
  readonly status?: string
  /** The beat of the newest entry of the history. */
  readonly beat: number
  /** The numbers that the next entry of the history and the next watcher get. */
  readonly hist_next: number
  readonly wtch_next: number
  /** How many watchers are open. */
  readonly watchers: number
}

/** One who waits for a state or a status. */
export interface Watcher {
  readonly want: string
  /** The beat in which it is over; 0 for never. */
  readonly deadline: number
  /** The signal to send. */
  readonly cont: string
  /** The enzyme that takes it, or `(outside)` for whoever is bound there. */
  readonly enzyme: string
  readonly issued_beat: number
  /** The clock of that beat. */
  readonly issued_ms: number
}

/** The address of an operation's cell, or of one below it. */
export const address = (oid: string, ...below: ReadonlyArray<string>): Address.Address =>
  Address.make([FOLDER, oid, ...below].join("/"))

export const historyAddress = (oid: string, number: number): Address.Address => address(oid, "history", `OPH:${number}`)

export const watcherAddress = (oid: string, number: number): Address.Address => address(oid, "watchers", `OPW:${number}`)

/** The number of a watcher, from the name of its cell. */
export const numberOf = (name: string): number => Number(name.slice("OPW:".length))

/** Where what goes with a part of a dossier lies, and the link to it. */
export const payloadOf = ({ id }: Address.Address): Address.Address => Address.make(`${id}/payload`)

export const linkTo = (place: Address.Address): Link.Link => Link.make(place.text)

/**
 * Whether a text can be the id of an operation.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOid = (oid: unknown): oid is string => typeof oid === "string" && oid.startsWith("OPS:") && Name.refusal(oid) === undefined

/**
 * The order in which operations were created: beat by beat, those from outside first and those of the commit last.
 *
 * @category combinators
 * @since 0.1.0
 */
export const byCreation = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [places(a), places(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

const places = (oid: string): readonly [beat: number, run: number, nth: number] => {
  const [beat, run, nth] = oid.slice("OPS:".length).split(".")
  return [Number(beat), run === "x" ? -1 : run === "c" ? Infinity : Number(run), Number(nth)]
}

/** The run of a pipeline that an operation belongs to, by the operation's cell. Its envelope is sealed, so every read is the same. */
export const pipelineOf = (draft: { readonly get: (address: string) => Value }, target: string): Pipeline | undefined =>
  (draft.get(`${target}/envelope`) as { readonly pipeline?: Pipeline } | undefined)?.pipeline

/**
 * One line that tells how an operation stands.
 *
 * @category getters
 * @since 0.1.0
 */
export const summary = (oid: string, { state, status, watchers }: Live): string =>
  `oid=${oid} state=${state} closed=${status === undefined ? 0 : 1} status=${status ?? "-"} watchers=${watchers}`

/** What moves, from the value of an operation's cell; `undefined` where there is none. */
export const live = (value: Value): Live | undefined => value as unknown as Live | undefined
