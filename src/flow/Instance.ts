/**
 * Instances: running flows, one cell each, `/data/flow/inst/<id>`.
 *
 *     /data/flow/inst/<id>                     the instance
 *     /data/flow/subs/key/<key>/<id>           { <step>: true … }, its steps subscribed to the rendezvous of a key
 *     /data/flow/subs/path/<signal path>/<id>  the same, for any rendezvous with a signal path
 *     /data/flow/heard/<id>/<step>/<n>         the event of a step's n-th completion, from 1
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import type { Link } from "../cell/Link.ts"
import type { Value } from "../cell/Value.ts"
import type { Due, Now } from "../stage/Due.ts"
import * as Dues from "../stage/Due.ts"

/** The folder of instances. */
export const FOLDER = "/data/flow/inst"

/** The number of open instances. Each instance with a due time also has a cell below it, which is read when a space is opened. */
export const OPEN = Address.make("/sys/index/flow")

/**
 * The most characters of an open instance. The rest of its document is reserved for later fields: names, numbers, and a
 * note on how it ended.
 */
export const MAX_TEXT = Document.MAX_TEXT - 2048

/** The folder of subscriptions to rendezvous, one cell for each. */
export const SUBSCRIPTIONS = "/data/flow/subs"

/** The folder of completion events. */
export const EVENTS = "/data/inbox/flow/inst_event"

/** The folder of delivered events. They are kept apart because events can be large, and each step rewrites its instance. */
export const HEARD = "/data/flow/heard"

/** The prefix of the signal that continues an instance, followed by the name of its flow. */
export const SIGNALS = "/CEP:sig_flow"

/** The prefix of the signal that an instance ended, followed by its final state. */
export const ENDED = "/CEP:sig_inst"

/** The state of an instance. The last three are final. */
export type State = "ready" | "waiting" | "paused" | "done" | "error" | "cancelled"

/** A completion as an instance stores it. */
export interface Completion {
  readonly key: string
  readonly outcome: string
  /** The link to the cell of its event. */
  readonly link: Link
}

/** The rendezvous that a step is subscribed to. */
export interface Job {
  readonly key: string | undefined
  readonly signal: string
  /** The `inst_id` of the spawned rendezvous, if it differs from the instance. */
  readonly inst_id?: string
  /** Whether it completes more than once. */
  readonly again: boolean
  /** The number of completions so far. */
  readonly heard: number
  /** Its newest completion that no Wait has taken. */
  readonly event?: Completion
}

/** A finished step. */
export interface FinishedStep {
  readonly step: string
  readonly kind: string
  readonly beat: number
  readonly outcome: string
}

/**
 * The stored form of an instance.
 */
export interface Instance {
  readonly flow: string
  readonly state: State
  /** The next step, or the Wait in progress. */
  readonly pc: string
  readonly input: Value
  /** The beat that started it, and its clock, in milliseconds since 1970. */
  readonly started: number
  readonly started_ms: number
  /** The most steps, and the beat at which it ends, with its clock; 0 for no limit. */
  readonly budget: { readonly steps: number; readonly deadline: number; readonly deadline_ms: number }
  readonly steps_used: number
  readonly results: Readonly<Record<string, Value>>
  readonly jobs: Readonly<Record<string, Job>>
  /** The beat at which the current Wait times out, and its clock; 0 for never. */
  readonly until: number
  readonly until_ms: number
  readonly history: ReadonlyArray<FinishedStep>
  /** The reason of an error. */
  readonly note?: string
}

/** The address of an instance. */
export const address = (inst: string): Address.Address => Address.make(`${FOLDER}/${inst}`)

/** The subject of a subscription: the rendezvous of a key, or any with a signal path. */
export type Subscribed = Pick<Job, "key" | "signal">

/** The folder of the subscribers of a subject. */
export const listeners = ({ key, signal }: Subscribed): string => `${SUBSCRIPTIONS}/${key === undefined ? `path/${signal}` : `key/${key}`}`

/** The cell of an instance's subscription, which lists its subscribed steps. */
export const subscription = (inst: string, heard: Subscribed): Address.Address => Address.make(`${listeners(heard)}/${inst}`)

/** The cell of the event of a step's n-th completion. */
export const heard = (inst: string, { n, step }: { readonly n: number; readonly step: string }): Address.Address =>
  Address.make(`${HEARD}/${inst}/${step}/${n}`)

/** Whether a text is a valid instance id: one name. */
export const isId = (inst: unknown): inst is string => typeof inst === "string" && Name.refusal(inst) === undefined

/** The id of the instance stored under a document's key; `undefined` for any other document. */
export const idOf = (key: string): string | undefined =>
  key.startsWith(`${FOLDER}/`) && key.indexOf("/", FOLDER.length + 1) < 0 && !key.includes("?") ? key.slice(FOLDER.length + 1) : undefined

/** An instance from its cell; `undefined` for any other value. */
export const read = (value: Value): Instance | undefined =>
  typeof value === "object" && value !== null && typeof (value as { readonly pc?: unknown }).pc === "string"
    ? value as unknown as Instance
    : undefined

/** Whether it has ended. */
export const isOver = ({ state }: Instance): boolean => state === "done" || state === "error" || state === "cancelled"

/** Its due times: the end of its budget, and the end of its Wait. Only a waiting instance has the second; a paused one has neither. */
export const dues = ({ budget: { deadline, deadline_ms }, state, until, until_ms }: Instance): ReadonlyArray<Due> => {
  if (state !== "waiting" && state !== "ready") return none
  return [[state === "waiting" ? until : 0, until_ms], [deadline, deadline_ms]].flatMap(
    ([beat, moment]) => beat === 0 ? [] : [{ beat, moment }]
  )
}

const none: ReadonlyArray<Due> = []

/**
 * An instance at its due time: ended if its budget is, else ready if its Wait is over. A paused instance, or one whose
 * time was postponed, is unchanged.
 */
export const timed = (instance: Instance, now: Pick<Now, "beat" | "clock">): Instance => {
  if (dues(instance).length === 0) return instance
  const note = overdrawn(instance, now)
  if (note !== undefined) return { ...instance, state: "error", note }
  return instance.state === "waiting" && isLate(instance, now) ? { ...instance, state: "ready" } : instance
}

/** An instance without the completions that no Wait has taken. */
export const settled = (instance: Instance): Instance => ({
  ...instance,
  jobs: Object.fromEntries(Object.entries(instance.jobs).map(([step, { event: _, ...job }]) => [step, job]))
})

/** Whether its Wait is over. */
export const isLate = ({ until, until_ms }: Instance, now: Pick<Now, "beat" | "clock">): boolean =>
  until > 0 && Dues.isOver({ beat: until, moment: until_ms }, now)

/** The reason why its budget forbids a further step; `undefined` if it allows one. */
export const overdrawn = (
  { budget: { deadline, deadline_ms, steps }, steps_used }: Instance,
  now: Pick<Now, "beat" | "clock">
): string | undefined => {
  if (steps > 0 && steps_used >= steps) return `its budget of ${steps} steps is spent`
  return deadline > 0 && Dues.isOver({ beat: deadline, moment: deadline_ms }, now) ? `its budget ended with beat ${deadline}` : undefined
}
