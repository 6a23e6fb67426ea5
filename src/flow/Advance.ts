/**
 * Advances the flows of one beat.
 *
 * After runs are merged and rendezvous have emitted their events, each completion
 * is delivered to the subscribed instances. Ready instances then get the signal
 * that continues them in the next beat. Ended instances get a final signal [S1
 * §Technical Details].
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import { InvalidValue } from "../cell/Value.ts"
import type { Now } from "../stage/Due.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Instance from "./Instance.ts"

/** A signal of the beat to an instance. */
export interface FlowSignal {
  readonly signal: string
  readonly target: string
  /** Absent for an impulse. */
  readonly payload: Document.Document | undefined
}

/** The input of flows at the commit of a beat. */
export interface CommitInput {
  /** The due instances, by the keys of their cells. */
  readonly met: ReadonlyArray<string>
  /** Whether the content of one cell may be disclosed in another. */
  readonly tells: (from: string, to: string) => boolean
  /** Called with each instance that a completion ended because it does not fit its cell. */
  readonly outgrown: (inst: string) => void
}

/** The effects of a beat on its flows: signals, and the keys of rendezvous spawned by ended instances. */
export interface FlowEffects {
  readonly sent: ReadonlyArray<FlowSignal>
  readonly left: ReadonlyArray<string>
}

/** The subscriptions to completions, and the checks of a delivery. */
interface Routing extends Pick<CommitInput, "outgrown"> {
  readonly listeners: (place: string) => ReadonlyArray<string>
  readonly tells: (to: string) => boolean
}

/** A decoded event of a completion, and its document. */
interface Event {
  readonly key: string
  readonly outcome: string
  readonly signal_path: string
  readonly document: Document.Document
}

/**
 * Step 10 for flows: delivers completions, applies due times, signals ready instances, and ends the subscriptions of
 * ended ones.
 */
export const atCommit = (stage: Stage, now: Pick<Now, "beat" | "clock">, { met, outgrown, tells }: CommitInput): FlowEffects => {
  const completions = completed(stage)
  if (completions.length > 0) {
    const listeners = subscribedAt(stage)
    for (const [cell, document] of completions) {
      const { key, outcome, signal_path } = Document.read(document, []) as unknown as Event
      dispatch(stage, { listeners, outgrown, tells: (to) => tells(cell, to) }, { key, outcome, signal_path, document })
    }
  }
  for (const key of met) meet(stage, key, now)
  const sent: Array<FlowSignal> = []
  const left: Array<string> = []
  for (const key of stage.documents.keys()) {
    const inst = isInstance(key) ? Instance.idOf(key) : undefined
    const instance = inst === undefined ? undefined : newest(stage, key)
    if (inst === undefined || instance === undefined) continue
    const { flow, pc, state } = instance
    if (state === "ready") sent.push({ signal: `${Instance.SIGNALS}/${flow}`, target: key, payload: Document.encode({ pc }) })
    if (!Instance.isOver(instance)) continue
    sent.push({ signal: `${Instance.ENDED}/${state}`, target: key, payload: undefined })
    left.push(...release(stage, inst, instance))
  }
  return { sent, left }
}

/**
 * The events of this beat's completions, by their cells, in the order of the entries. Only the commit itself writes them;
 * a run of the beat may have written such a cell before.
 */
const completed = (stage: Stage): ReadonlyArray<readonly [cell: string, event: Document.Document]> => {
  const found: Array<readonly [string, Document.Document]> = []
  for (const entry of stage.documents.keys()) {
    if (!entry.startsWith(ENTRIES)) continue
    const key = `${Instance.EVENTS}/${entry.slice(ENTRIES.length)}`
    const event = stage.documents.get(key)
    if (event?.after !== undefined && event.writers.at(-1) === COMMIT) found.push([key, event.after])
  }
  return found
}

/** The keys of rendezvous begin with it. */
const ENTRIES = "/data/rv/"

/** Whether a document is an instance. One character is compared first, because most documents are in other folders. */
export const isInstance = (key: string): boolean => key.charCodeAt(6) === 102 && Instance.idOf(key) !== undefined

const newest = (stage: Stage, key: string): Instance.Instance | undefined => Instance.read(Document.read(stage.newest(key), []))

/** Applies the due time of an instance, unless the beat postponed it. */
const meet = (stage: Stage, key: string, now: Pick<Now, "beat" | "clock">): void => {
  const instance = newest(stage, key)
  if (instance === undefined) return
  const timed = Instance.timed(instance, now)
  if (timed !== instance) stage.put(Address.ofKey(key), Document.encode(timed), COMMIT)
}

/**
 * Removes the subscriptions and untaken events of an ended instance. Returns the rendezvous to end with it. A key
 * spawned again since belongs to its newer owner.
 */
const release = (stage: Stage, inst: string, instance: Instance.Instance): ReadonlyArray<string> => {
  const jobs = Object.values(instance.jobs)
  for (const job of jobs) {
    const places = [Instance.subscription(inst, job), ...job.event === undefined ? [] : [Address.make(job.event.link.$link)]]
    for (const place of places) if (stage.newest(place.key) !== undefined) stage.put(place, undefined, COMMIT)
  }
  if (jobs.some(({ event }) => event !== undefined)) stage.put(Instance.address(inst), Document.encode(Instance.settled(instance)), COMMIT)
  return jobs.flatMap(({ inst_id = inst, key }) => key !== undefined && ownerOf(stage, key) === inst_id ? [key] : [])
}

const ownerOf = (stage: Stage, key: string): string | undefined =>
  (Document.read(stage.newest(`${ENTRIES}${key}`), []) as { readonly inst_id?: string } | undefined)?.inst_id

/** Delivers a completion to all subscribed instances, and readies those that wait for it. */
const dispatch = (stage: Stage, routing: Routing, event: Event): void => {
  const { key, signal_path: signal } = event
  for (const heard of [{ key, signal }, { key: undefined, signal }]) {
    for (const inst of routing.listeners(Instance.listeners(heard))) deliver(stage, { event, heard, routing, inst })
  }
}

/** A completion on its way to one instance. */
interface Delivery {
  readonly event: Event
  readonly heard: Instance.Subscribed
  readonly routing: Routing
  readonly inst: string
}

const deliver = (stage: Stage, { event: { document, key, outcome }, heard, routing: { outgrown, tells }, inst }: Delivery): void => {
  const subscription = Instance.subscription(inst, heard)
  const cell = Instance.address(inst)
  const steps = Document.read(stage.newest(subscription.key), [])
  const instance = newest(stage, cell.key)
  if (steps === undefined || instance === undefined || Instance.isOver(instance) || !tells(cell.key)) return
  const told = subscribers(inst, instance, Object.keys(steps as object)).filter(({ place }) => tells(place.key))
  if (told.length === 0) return
  const changed = told.map(({ job, place, step }): readonly [string, Instance.Job] =>
    [step, { ...job, heard: job.heard + 1, event: { key, outcome, link: Link.make(place.id) } }])
  const jobs = { ...instance.jobs, ...Object.fromEntries(changed) }
  const grown = fitting({ ...instance, jobs, state: instance.state === "waiting" ? "ready" : instance.state })
  if (grown === undefined) {
    stage.put(cell, Document.encode({ ...instance, state: "error", note: "does not fit its cell" }), COMMIT)
    outgrown(inst)
    return
  }
  const staying = told.filter(({ job }) => job.again).map(({ step }) => [step, true])
  if (staying.length < told.length) {
    stage.put(subscription, staying.length === 0 ? undefined : Document.encode(Object.fromEntries(staying)), COMMIT)
  }
  stage.put(cell, grown, COMMIT)
  for (const { job: { event: older }, place } of told) {
    if (older !== undefined) stage.put(Address.make(older.link.$link), undefined, COMMIT)
    stage.put(place, document, COMMIT)
  }
}

/** A subscribed step of an instance: its job, and the cell of its next event. */
interface Subscriber {
  readonly step: string
  readonly job: Instance.Job
  readonly place: Address.Address
}

const subscribers = (inst: string, { jobs }: Instance.Instance, steps: ReadonlyArray<string>): ReadonlyArray<Subscriber> =>
  steps.flatMap((step) => {
    const job = jobs[step]
    return job === undefined ? [] : [{ step, job, place: Instance.heard(inst, { n: job.heard + 1, step }) }]
  })

/** The instances subscribed at a place: those of the last beat and those written in this one. */
const subscribedAt = ({ committed, documents }: Stage): Routing["listeners"] => {
  const written = new Map<string, Array<string>>()
  for (const { address: { id } } of documents.values()) {
    if (!id.startsWith(Instance.SUBSCRIPTIONS)) continue
    const place = Address.parent(id)
    const names = written.get(place)
    if (names === undefined) written.set(place, [Address.name(id)])
    else names.push(Address.name(id))
  }
  return (place) => [...new Set([...committed.children(Address.SPACE, place), ...written.get(place) ?? []])].sort()
}

/** An instance as a document; `undefined` if no room would remain for its end. */
const fitting = (instance: Instance.Instance): Document.Document | undefined => {
  try {
    const document = Document.encode(instance)
    return document.size > Instance.MAX_TEXT ? undefined : document
  } catch (error) {
    if (error instanceof InvalidValue) return undefined
    throw error
  }
}
