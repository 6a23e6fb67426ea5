/**
 * Instances: flows under way, one cell each, `/data/flow/inst/<id>`.
 *
 *     /data/flow/inst/<id>                     the instance
 *     /data/flow/subs/key/<key>/<id>           { <step>: true … }, its steps that hear of the rendezvous of a key
 *     /data/flow/subs/path/<signal path>/<id>  the same, of any rendezvous with a signal path
 *     /data/flow/heard/<id>/<step>/<n>         the event of the n-th completion that a step heard of, from 1
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

/** Where instances lie. */
export const FOLDER = "/data/flow/inst"

/** The cell that says how many instances are under way, so that nobody has to count them. Below it each has a cell that waits for a time, by which it is found when a space is opened. */
export const OPEN = Address.make("/sys/index/flow")

/**
 * Most characters of an instance that is under way. What it gets beside the work of its steps is bounded by the rest: the longest names
 * and numbers of where it stands, and a note of why it ended.
 */
export const MAX_TEXT = Document.MAX_TEXT - 2048

/** Where it is noted who hears of a rendezvous, a cell for each. */
export const SUBSCRIPTIONS = "/data/flow/subs"

/** Where each completion of a rendezvous puts its event. */
export const EVENTS = "/data/inbox/flow/inst_event"

/** Where the events lie that instances heard of: what they tell can be large, and an instance is written at each of its steps. */
export const HEARD = "/data/flow/heard"

/** Below it, by the name of a flow, the signal that has an instance go on. */
export const SIGNALS = "/CEP:sig_flow"

/** Below it, by how it ended, the signal that tells of an instance that is over. */
export const ENDED = "/CEP:sig_inst"

/** How an instance can stand. The last three are for good. */
export type State = "ready" | "waiting" | "paused" | "done" | "error" | "cancelled"

/** A completion as an instance has it. */
export interface Completion {
  readonly key: string
  readonly outcome: string
  /** The cell of its event. */
  readonly link: Link
}

/** What is known of the rendezvous that a step hears of. */
export interface Job {
  readonly key: string | undefined
  readonly signal: string
  /** The `inst_id` of what it spawned, where that is not the instance. */
  readonly inst_id?: string
  /** Whether it completes more than once. */
  readonly again: boolean
  /** How many completions came. */
  readonly heard: number
  /** Its newest completion that no Wait has taken yet. */
  readonly event?: Completion
}

/** One step that is behind. */
export interface Passed {
  readonly step: string
  readonly kind: string
  readonly beat: number
  readonly outcome: string
}

/**
 * An instance as it is kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Instance {
  readonly flow: string
  readonly state: State
  /** The step that is next, or that it waits in. */
  readonly pc: string
  readonly input: Value
  /** The beat that started it, and its clock. */
  readonly started: number
  readonly started_ms: number
  /** Steps that it may take, and the beat from which it takes none, with its clock; 0 for any. */
  readonly budget: { readonly steps: number; readonly deadline: number; readonly deadline_ms: number }
  readonly steps_used: number
  readonly results: Readonly<Record<string, Value>>
  readonly jobs: Readonly<Record<string, Job>>
  /** The beat at which the Wait that it is in is over, and its clock; 0 for never. */
  readonly until: number
  readonly until_ms: number
  readonly history: ReadonlyArray<Passed>
  /** Why it ended otherwise than well. */
  readonly note?: string
}

/** The address of an instance. */
export const address = (inst: string): Address.Address => Address.make(`${FOLDER}/${inst}`)

/** What is heard of: the rendezvous of a key, or any with a signal path. */
export type Heard = Pick<Job, "key" | "signal">

/** Where those lie who hear of it. */
export const listeners = ({ key, signal }: Heard): string => `${SUBSCRIPTIONS}/${key === undefined ? `path/${signal}` : `key/${key}`}`

/** The cell that notes which steps of an instance hear of it. */
export const subscription = (inst: string, heard: Heard): Address.Address => Address.make(`${listeners(heard)}/${inst}`)

/** The cell of the event of the completion that a step heard of as the n-th. */
export const heard = (inst: string, { n, step }: { readonly n: number; readonly step: string }): Address.Address => Address.make(`${HEARD}/${inst}/${step}/${n}`)

/** Whether a text can be the id of an instance: one name. */
export const isId = (inst: unknown): inst is string => typeof inst === "string" && Name.refusal(inst) === undefined

/** The id of the instance that a document's key names; `undefined` for any other document. */
export const idOf = (key: string): string | undefined =>
  key.startsWith(`${FOLDER}/`) && key.indexOf("/", FOLDER.length + 1) < 0 && !key.includes("?") ? key.slice(FOLDER.length + 1) : undefined

/** An instance from its cell; `undefined` where it holds none. */
export const read = (value: Value): Instance | undefined =>
  typeof value === "object" && value !== null && typeof (value as { readonly pc?: unknown }).pc === "string" ? value as unknown as Instance : undefined

/** Whether it is over. */
export const isOver = ({ state }: Instance): boolean => state === "done" || state === "error" || state === "cancelled"

/** The times that it waits for: when its budget ends, and when the Wait that it is in is over. One that rests waits for none, and one that is ready no longer for its Wait. */
export const dues = ({ budget: { deadline, deadline_ms }, state, until, until_ms }: Instance): ReadonlyArray<Due> => {
  if (state !== "waiting" && state !== "ready") return none
  return [[state === "waiting" ? until : 0, until_ms], [deadline, deadline_ms]].flatMap(([beat, moment]) => beat === 0 ? [] : [{ beat, moment }])
}

const none: ReadonlyArray<Due> = []

/**
 * How an instance stands when its time has come: over where its budget is, whatever it does, and ready where its Wait is. One whose time
 * was put off, or that rests, stays as it is.
 */
export const timed = (instance: Instance, now: Pick<Now, "beat" | "now">): Instance => {
  if (dues(instance).length === 0) return instance
  const note = overdrawn(instance, now)
  if (note !== undefined) return { ...instance, state: "error", note }
  return instance.state === "waiting" && isLate(instance, now) ? { ...instance, state: "ready" } : instance
}

/** An instance without what came of its rendezvous and no Wait has taken. */
export const settled = (instance: Instance): Instance => ({
  ...instance,
  jobs: Object.fromEntries(Object.entries(instance.jobs).map(([step, { event: _, ...job }]) => [step, job]))
})

/** Whether the Wait that it is in is over. */
export const isLate = ({ until, until_ms }: Instance, now: Pick<Now, "beat" | "now">): boolean => until > 0 && Dues.isOver({ beat: until, moment: until_ms }, now)

/** Why it may take no further step; `undefined` where it may. */
export const overdrawn = ({ budget: { deadline, deadline_ms, steps }, steps_used }: Instance, now: Pick<Now, "beat" | "now">): string | undefined => {
  if (steps > 0 && steps_used >= steps) return `its budget of ${steps} steps is spent`
  return deadline > 0 && Dues.isOver({ beat: deadline, moment: deadline_ms }, now) ? `its budget ended with beat ${deadline}` : undefined
}
