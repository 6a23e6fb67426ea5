/**
 * The fields of an enzyme that are plain data: one table, from which the types of a definition and of an enzyme, the checks, the
 * defaults and the reference follow. A field is one more entry, whose docstring is its text in the reference.
 *
 * The checks are plain, so that a module loads without schemas: an isolate that wakes for one signal would wait for them.
 *
 * @module
 */
import * as Name from "../cell/Name.ts"
import * as Pattern from "../cell/Pattern.ts"
import * as Envelope from "../stage/Envelope.ts"
import * as Signals from "../stage/OutgoingSignal.ts"
import * as Retrying from "./Retrying.ts"
import * as Scheduling from "./Scheduling.ts"
import * as Duration from "../time/Duration.ts"

/** Whether an enzyme takes only signals with a target. */
export type Targeting = "required" | undefined

/** The isolation of a run: conflicts on writes only, or also on reads. */
export type Isolation = "snapshot" | "serializable"

/** A cell at which an enzyme accepts signals, as a definition gives it. */
export type GivenBinding = string | { readonly cell: string; readonly propagate?: boolean }

/** A binding declared by a descriptor: a cell, and all its descendants unless `propagate` is false. */
export interface BindingDeclaration {
  readonly cell: string
  readonly propagate: boolean
}

/** The type of a field. */
interface Type<In> {
  readonly fits: (value: unknown) => boolean
  /** The expected value in words. */
  readonly expected: string
  /** A further check of a value that fits. It throws, and its message states the fault. */
  readonly check?: ((value: In) => unknown) | undefined
}

/** A field: its type, and the value that an enzyme has for a given or an absent one. */
interface Field<In, Out> extends Type<In> {
  readonly isRequired: boolean
  readonly decode: (value: In | undefined, given: Given) => Out
}

/** The given fields on which defaults of others depend. */
interface Given {
  readonly name: string
  readonly durable?: boolean | undefined
}

const required = <In>(type: Type<In>): Field<In, In> & { readonly isRequired: true } =>
  ({ ...type, isRequired: true, decode: (value) => value as In })

const optional = <In, Out = In>(type: Type<In>, decode: Field<In, Out>["decode"]): Field<In, Out> & { readonly isRequired: false } =>
  ({ ...type, isRequired: false, decode })

/** A field without a default. */
const free = <In>(type: Type<In>) => optional<In, In | undefined>(type, (value) => value)

/** A field with one default. */
const fixed = <In>(type: Type<In>, value: In) => optional<In>(type, (given = value) => given)

const isText = (value: unknown): value is string => typeof value === "string"
const isName = (value: unknown): boolean => isText(value) && /^[A-Za-z0-9_.:-]{1,128}$/.test(value)
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value has no fields but these. */
const hasOnly = (value: object, ...fields: ReadonlyArray<string>): boolean => Object.keys(value).every((field) => fields.includes(field))

const isBinding = (value: unknown): boolean =>
  isText(value) || isRecord(value) && isText(value["cell"]) && hasOnly(value, "cell", "propagate") &&
    (!("propagate" in value) || typeof value["propagate"] === "boolean")

const oneOf = <const Text extends string>(...texts: ReadonlyArray<Text>): Type<Text> => ({
  fits: (value) => texts.includes(value as Text),
  expected: texts.map((text) => JSON.stringify(text)).join(" or ")
})

const listOf = <Item>(fits: (value: unknown) => boolean, expected: string): Type<ReadonlyArray<Item>> =>
  ({ fits: (value) => Array.isArray(value) && value.every(fits), expected: `a list of ${expected}` })


const NAME = "1 to 128 of the characters A-Z, a-z, 0-9, _, ., : and -"
const text: Type<string> = { fits: isText, expected: "a text" }
const flag: Type<boolean> = { fits: (value) => typeof value === "boolean", expected: "true or false" }
const names = listOf<string>(isName, `names of ${NAME}`)

/** The largest number of milliseconds of a run. */
const MAX_MILLIS = 3_600_000

const limit: Type<Duration.Given> = {
  fits: (value) => Duration.isWithin(value, [1, MAX_MILLIS]),
  expected: `a whole number from 1 to ${MAX_MILLIS}, or a time such as "10s"`
}

const retry: Type<Retrying.GivenRetry> = {
  fits: isRecord,
  expected: "{ attempts }, { attempts, beats } or { attempts, delay, factor, max, jitter }",
  check: Retrying.check
}

const schedule: Type<Scheduling.GivenSchedule> = { fits: Scheduling.fits, expected: Scheduling.EXPECTED, check: Scheduling.check }

const bindings: Type<ReadonlyArray<GivenBinding>> = {
  ...listOf(isBinding, "cells, each a text or { cell, propagate }"),
  check: (bindings) => bindings.forEach(checkCell)
}

const checkCell = (binding: GivenBinding): void => {
  const cell = isText(binding) ? binding : binding.cell
  const names = Name.split(cell)
  if (isText(names)) throw new Error(`"${cell}" is no cell: ${names}`)
}

const declared = (binding: GivenBinding): BindingDeclaration =>
  isText(binding) ? { cell: binding, propagate: true } : { cell: binding.cell, propagate: binding.propagate ?? true }

const checkName = (name: string): void => {
  const refusal = Name.refusal(name)
  if (refusal !== undefined) throw new Error(refusal)
}

/**
 * The fields.
 */
export const fields = {
  /** A name such as `resize_image`, preferably unique, because `before`, `after` and bindings refer to it. */
  name: required<string>({ fits: isName, expected: NAME, check: checkName }),
  /**
   * The name shown in the ledger.
   *
   * @default the name
   */
  label: optional<string>({ fits: (value) => isText(value) && value !== "", expected: "a text that is not empty" }, (label, { name }) =>
    label ?? name),
  /** A pattern over signal paths such as `/signals/image/*`; the empty pattern matches every signal. */
  query: required<string>({ ...text, check: Pattern.parse }),
  /** `exact`: the query matches the whole signal. `prefix`: it matches a prefix of the signal. */
  match: fixed<Pattern.Mode>(oneOf("exact", "prefix"), "exact"),
  /** Names of enzymes that run after this one when both match a signal. */
  before: fixed<ReadonlyArray<string>>(names, []),
  /** Names of enzymes that run before this one when both match a signal. */
  after: fixed<ReadonlyArray<string>>(names, []),
  /** Cells at which it accepts signals; a plain path includes all descendants, `{ cell, propagate: false }` only the cell. */
  bind: optional(bindings, (bindings): ReadonlyArray<BindingDeclaration> => (bindings ?? []).map(declared)),
  /**
   * `required`: it takes only signals with a target, so `event.target` is a text. A signal without a target is no match for it,
   * whatever its query.
   *
   * @default any
   */
  target: free<Targeting>({ fits: (value) => value === undefined || value === "required", expected: "\"required\", or leave it out" }),
  /**
   * The envelope: patterns of the addresses that it may write; by default all but the runtime's own.
   *
   * @default all user data
   */
  writes: free<ReadonlyArray<string>>({ ...listOf(isText, "texts"), check: (writes) => Envelope.make(writes, false) }),
  /**
   * The attempts of an event, from 1 to 1000, and the waits between them, after which it becomes a dead letter.
   *
   * Without more, an attempt waits 1 beat, and each further one twice as long, up to the limit `backoffBeats`. `beats` is another
   * first wait. With `delay`, waits are by the clock of the space: `delay` at first, each further one `factor` times as long
   * (default 2), up to `max` (default `"1h"`, or a longer `delay`). Each is shorter by a random part of its share `jitter` (default 0).
   * Durations are texts such as `"10s"`, up to `"366d"`. A `Retry` with `after` decides its own wait.
   *
   * @example Ten attempts over some hours
   * ```ts
   * import { Enzyme, Retry } from "systole"
   *
   * export default Enzyme.make({
   *   name: "ship",
   *   query: "/signals/ship/:order",
   *   retry: { attempts: 10, delay: "1s", factor: 4, max: "1h", jitter: 0.1 },
   *   run: (tx, { params }) => tx.get(`/data/paid/${params.order}`) ?? new Retry({ reason: "the order is not paid yet" })
   * })
   * ```
   */
  retry: optional<Retrying.GivenRetry, Retrying.Retrying>(retry, Retrying.decode),
  /**
   * When it gets an event of its own: a cron expression of five fields in UTC, `{ cron, timezone }`, or `{ every }`, from 1s to 366d.
   * The event has the signal of `query`, which names one signal, and the payload `{ due, next }`: due times in milliseconds since 1970.
   *
   * There is one event for each due time, in each of the named `spaces`; by default in the first space of the configuration. Due
   * times that were missed, because the host was down or asleep, the space was paused, or the clock jumped, become one event: its
   * `due` is the first of them. So do those that pass while the last event is open. An interval counts from the beat in which the
   * space first has the schedule. A schedule of another
   * text is planned anew. The cell `/sys/schedules/<enzyme>` has the plan.
   *
   * A time of day that a change to summer time skips is due at the end of the gap, and one that occurs twice is due once.
   *
   * @default none
   * @example A report on each working day at 9 in Vienna, and a look each five minutes
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default [
   *   Enzyme.make({
   *     name: "report",
   *     query: "/signals/report",
   *     schedule: { cron: "0 9 * * MON-FRI", timezone: "Europe/Vienna" },
   *     run: (tx) => tx.set("/data/report", { sold: tx.get("/data/sold") ?? 0, at: tx.now })
   *   }),
   *   Enzyme.make({
   *     name: "look",
   *     query: "/signals/look",
   *     schedule: { every: "5m", spaces: ["home", "shop"] },
   *     run: (tx) => void tx.increment("/data/looks")
   *   })
   * ]
   * ```
   */
  schedule: optional<Scheduling.GivenSchedule, Scheduling.Scheduling | undefined>(schedule, Scheduling.decode),
  /** Events of one lane never share a beat: `pair` (signal and target), `target` or `space`. */
  lane: fixed<"pair" | "target" | "space">(oneOf("pair", "target", "space"), "pair"),
  /**
   * `strict`: an event that failed, or that a durable run waits with, keeps its place in its lane. `loose`: the lane continues.
   * The default is `loose` for durable enzymes.
   */
  order: optional<"strict" | "loose">(oneOf("strict", "loose"), (order, { durable }) => order ?? (durable === true ? "loose" : "strict")),
  /**
   * `snapshot`: runs conflict on writes. `serializable`: also on reads.
   *
   * @default the configuration's
   */
  isolation: free<Isolation>(oneOf("snapshot", "serializable")),
  /** Runs once per equal impulse of a beat instead of once for all. */
  repeatable: fixed<boolean>(flag, false),
  /** Refuses a second enzyme with the same query. */
  exclusive: fixed<boolean>(flag, false),
  /**
   * Whether a run may wait, across beats and restarts: for `tx.sleep`, `tx.waitForSignal` and results of `tx.io`.
   *
   * The body is cut into segments at its awaits. Each segment is one run with its own transaction, and its writes are
   * kept, regardless of later failures. After a restart the body is executed again with its recorded reads and results, so it
   * takes time, chance and data from the transaction alone, and awaits no other promises.
   */
  durable: fixed<boolean>(flag, false),
  /**
   * A durable run that misses its module after a deployment: `hold` waits; `end` makes its handling a dead letter, `run/code-missing`.
   *
   * It misses its module if the host has the one with which it began no longer, and its log does not fit the present one. With
   * `hold` it keeps a strict lane, until the modules change or somebody cancels it. With `end` its lane goes on. The present
   * module decides, because the one of the run is missing.
   *
   * A run that is ended undoes nothing, so `end` is for work that a later event does as well, such as a periodic one; `onDead`
   * may send it. `systole run retry --anew` starts the run over.
   */
  onMissing: fixed<"hold" | "end">(oneOf("hold", "end"), "hold"),
  /**
   * The consequence of a fatal run. In both cases its beat is aborted and its handling becomes a dead letter. `shutdown` then stops
   * the space until `systole restart`; `continue` keeps it running.
   */
  onFatal: fixed<"shutdown" | "continue">(oneOf("shutdown", "continue"), "shutdown"),
  /**
   * A signal that goes to the event's target when its handling becomes a dead letter, with `{ id, enzyme, code }`.
   *
   * It is sent by whatever cause: a failure, a cancellation or a rollback, and handled a beat later. The id of the event and the
   * name of the enzyme name the letter; the code is that of the failure. An enzyme that is registered no more (`enzyme/gone`)
   * sends none.
   *
   * The enzyme that takes it goes on for the one that died. If that one dies each time, nothing ends the repetition, so let it
   * wait longer each time.
   *
   * @example A run that begins again a minute after it died
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default [
   *   Enzyme.make({ name: "poll", query: "/signals/poll", durable: true, onDead: "/signals/poll/died", run: (tx) => tx.sleep(1000) }),
   *   Enzyme.make({
   *     name: "poll_again",
   *     query: "/signals/poll/died",
   *     run: (tx, { target }) => tx.signal({ signal: "/signals/poll", target, payload: {}, at: { ms: 60_000 } })
   *   })
   * ]
   * ```
   */
  onDead: free<string>({ ...text, check: (signal) => Signals.make("", { signal }, 0) }),
  /** Whether the module may import modules of the host, such as `node:fs`. */
  trusted: fixed<boolean>(flag, false),
  /**
   * The time limit of a waiting run, in milliseconds of the host or as a time such as `"10s"`; beyond it the attempt failed.
   *
   * The space waits with the run. A handling that times out twice (`timeoutAttempts`) is therefore given up, regardless
   * of `retry`. A run that returns without waiting cannot be stopped, so its result stands at any duration. A segment of a
   * durable run waits for no promise of its own, so it needs no limit.
   */
  limitMs: optional<Duration.Given, number>(limit, (given = 1000) => Duration.amountOf(given))
}

type Fields = typeof fields

type InOf<F> = F extends Field<infer In, unknown> ? In : never
type OutOf<F> = F extends { readonly decode: (...args: never) => infer Out } ? Out : never
type Required = { [Name in keyof Fields]: Fields[Name]["isRequired"] extends true ? Name : never }[keyof Fields]

/** The fields of a definition: all but `name` and `query` have a default. */
export type Metadata =
  & { readonly [Name in keyof Pick<Fields, Required>]: InOf<Fields[Name]> }
  & { readonly [Name in keyof Omit<Fields, Required>]?: InOf<Fields[Name]> }

/** The fields of an enzyme. */
export type Decoded = { readonly [Name in keyof Fields]: OutOf<Fields[Name]> }

const entries = Object.entries(fields) as ReadonlyArray<readonly [string, Field<unknown, unknown>]>

/**
 * The reasons why metadata does not have the fields of a definition, not of their types, or not of their form; `undefined` if it
 * fits.
 */
export const refusal = (metadata: Readonly<Record<string, unknown>>): string | undefined => {
  const reasons = entries.flatMap(([name, { expected, fits, isRequired }]) => {
    if (!Object.hasOwn(metadata, name) && !isRequired) return []
    return fits(metadata[name]) ? [] : [`${name} is ${shown(metadata[name])}; give ${expected}`]
  })
  for (const name of Object.keys(metadata)) {
    if (!Object.hasOwn(fields, name)) reasons.push(`there is no field "${name}"; an enzyme has ${Object.keys(fields).join(", ")}`)
  }
  return reasons.length === 0 ? fault(metadata) : `its metadata does not fit: ${reasons.join("; ")}`
}

/** The first fault of a value that has its type. */
const fault = (metadata: Readonly<Record<string, unknown>>): string | undefined => {
  for (const [name, { check }] of entries) {
    if (check === undefined || !Object.hasOwn(metadata, name)) continue
    const reason = failing(name, () => check(metadata[name]))
    if (reason !== undefined) return reason
  }
  return undefined
}

/** Returns the message of a check that throws, with the name of its field. */
export const failing = (field: string, check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    return `in its ${field}, ${(error as Error).message}`
  }
}

/** The most characters of a value in a message. */
const MAX_SHOWN = 60

const shown = (value: unknown): string => {
  if (value === undefined) return "absent"
  if (typeof value === "function") return "a function"
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/**
 * The fields of an enzyme, from metadata that is not refused.
 */
export const decode = (metadata: Metadata): Decoded =>
  Object.fromEntries(entries.map(([name, field]) => [name, field.decode(metadata[name as keyof Metadata], metadata)])) as unknown as Decoded
