/**
 * Advance: what a beat makes of its flows.
 *
 * When all runs are merged and rendezvous have told of their completions, each
 * completion comes to the instances that hear of it; those that are ready then
 * get the signal that has them go on in the next beat, and those that are over
 * are told of. (Seed 001, "Pipeline integration"; architecture, section 1.1,
 * step 10.)
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
export interface Sent {
  readonly signal: string
  readonly target: string
  /** Without one it is an impulse. */
  readonly payload: Document.Document | undefined
}

/** What the beat told of. */
export interface Told {
  /** The instances whose time has come, by the keys of their cells. */
  readonly met: ReadonlyArray<string>
  /** Whether what lies in one cell may be told in another. */
  readonly tells: (from: string, to: string) => boolean
  /** Is told of each instance that a completion ended, since it does not fit its cell. */
  readonly outgrown: (inst: string) => void
}

/** What a beat made of its flows: what it sends, and the rendezvous that ended instances spawned, by their keys. */
export interface Advanced {
  readonly sent: ReadonlyArray<Sent>
  readonly left: ReadonlyArray<string>
}

/** What is asked where completions come to those who hear of them. */
interface Hearing extends Pick<Told, "outgrown"> {
  readonly listeners: (place: string) => ReadonlyArray<string>
  readonly tells: (to: string) => boolean
}

/** What a completion tells, and how it is kept. */
interface Event {
  readonly key: string
  readonly outcome: string
  readonly signal_path: string
  readonly document: Document.Document
}

/**
 * Step 10 for flows: completions, then times, come to those that wait for them; then all that is ready goes on, and what is over is told of and hears no more.
 *
 * @category combinators
 * @since 0.1.0
 */
export const atCommit = (stage: Stage, now: Pick<Now, "beat" | "now">, { met, outgrown, tells }: Told): Advanced => {
  const completions = completed(stage)
  if (completions.length > 0) {
    const listeners = listening(stage)
    for (const [cell, document] of completions) {
      const { key, outcome, signal_path } = Document.read(document, []) as unknown as Event
      hear(stage, { listeners, outgrown, tells: (to) => tells(cell, to) }, { key, outcome, signal_path, document })
    }
  }
  for (const key of met) meet(stage, key, now)
  const sent: Array<Sent> = []
  const left: Array<string> = []
  for (const key of stage.documents.keys()) {
    if (!isInstance(key)) continue
    const instance = newest(stage, key)
    if (instance === undefined) continue
    const { flow, pc, state } = instance
    if (state === "ready") sent.push({ signal: `${Instance.SIGNALS}/${flow}`, target: key, payload: Document.encode({ pc }) })
    if (!Instance.isOver(instance)) continue
    sent.push({ signal: `${Instance.ENDED}/${state}`, target: key, payload: undefined })
    left.push(...release(stage, Instance.idOf(key)!, instance))
  }
  return { sent, left }
}

/** The events of the completions of this beat, by their cells: the commit itself puts them there, and nothing else does. */
const completed = (stage: Stage): ReadonlyArray<readonly [cell: string, event: Document.Document]> => {
  const found: Array<readonly [string, Document.Document]> = []
  for (const [key, { after, writers }] of stage.documents) {
    if (after !== undefined && writers.at(-1) === COMMIT && key.startsWith(`${Instance.EVENTS}/`)) found.push([key, after])
  }
  return found
}

/** Whether a document is an instance. Most of most beats differ from those in the first letter that can. */
export const isInstance = (key: string): boolean => key.charCodeAt(6) === 102 && Instance.idOf(key) !== undefined

const newest = (stage: Stage, key: string): Instance.Instance | undefined => Instance.read(Document.read(stage.newest(key), []))

/** The time of an instance has come, unless the beat put it off. */
const meet = (stage: Stage, key: string, now: Pick<Now, "beat" | "now">): void => {
  const instance = newest(stage, key)
  if (instance === undefined) return
  const timed = Instance.timed(instance, now)
  if (timed !== instance) stage.put(Address.ofKey(key), Document.encode(timed), COMMIT)
}

/** Has an instance that is over hear of nothing any more, and lets go of what no Wait has taken; answers the rendezvous that are its own. Whoever spawned one of their keys since answers for it. */
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
  (Document.read(stage.newest(`/data/rv/${key}`), []) as { readonly inst_id?: string } | undefined)?.inst_id

/** Notes a completion with all instances that hear of it, and has those go on that wait for it. */
const hear = (stage: Stage, { listeners, outgrown, tells }: Hearing, { document, key, outcome, signal_path }: Event): void => {
  for (const heard of [{ key, signal: signal_path }, { key: undefined, signal: signal_path }]) {
    for (const inst of listeners(Instance.listeners(heard))) {
      const place = Instance.subscription(inst, heard)
      const { key: cell } = Instance.address(inst)
      const steps = Document.read(stage.newest(place.key), [])
      const instance = newest(stage, cell)
      if (steps === undefined || instance === undefined || Instance.isOver(instance) || !tells(cell)) continue
      const placeOf = (step: string): Address.Address => Instance.heard(inst, { n: instance.jobs[step]!.heard + 1, step })
      const names = Object.keys(steps as object).filter((step) => instance.jobs[step] !== undefined && tells(placeOf(step).key))
      if (names.length === 0) continue
      const heardBy = (step: string): Instance.Job => {
        const job = instance.jobs[step]!
        return { ...job, heard: job.heard + 1, event: { key, outcome, link: Link.make(placeOf(step).id) } }
      }
      const jobs = { ...instance.jobs, ...Object.fromEntries(names.map((step) => [step, heardBy(step)])) }
      const grown = fitting({ ...instance, jobs, state: instance.state === "waiting" ? "ready" : instance.state })
      if (grown === undefined) {
        stage.put(Instance.address(inst), Document.encode({ ...instance, state: "error", note: "does not fit its cell" }), COMMIT)
        outgrown(inst)
        continue
      }
      const staying = names.filter((step) => jobs[step]!.again)
      if (staying.length < names.length) stage.put(place, staying.length === 0 ? undefined : Document.encode(Object.fromEntries(staying.map((step) => [step, true]))), COMMIT)
      stage.put(Instance.address(inst), grown, COMMIT)
      for (const step of names) {
        const older = instance.jobs[step]!.event
        if (older !== undefined) stage.put(Address.make(older.link.$link), undefined, COMMIT)
        stage.put(placeOf(step), document, COMMIT)
      }
    }
  }
}

/** The names of the instances at a place of subscriptions: those that the last beat left, and those that this one wrote. */
const listening = ({ committed, documents }: Stage): Hearing["listeners"] => {
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

/** An instance as it is kept; `undefined` where that leaves no room for how it ends. */
const fitting = (instance: Instance.Instance): Document.Document | undefined => {
  try {
    const document = Document.encode(instance)
    return document.size > Instance.MAX_TEXT ? undefined : document
  } catch (error) {
    if (error instanceof InvalidValue) return undefined
    throw error
  }
}
