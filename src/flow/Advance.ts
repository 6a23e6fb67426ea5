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
import type { Due } from "../stage/Due.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Instance from "./Instance.ts"

/** A signal of the beat to an instance. */
export interface Sent {
  readonly signal: string
  readonly target: string
  /** Without one it is an impulse. */
  readonly payload: Document.Document | undefined
  /** When it is taken, where that is not the next beat. */
  readonly due?: Due | undefined
}

/** What the beat told of. */
export interface Told {
  /** The completions, each by the cell of its event. */
  readonly completions: ReadonlyArray<readonly [cell: string, event: Document.Document]>
  /** Whether what lies in one cell may be told in another. */
  readonly tells: (from: string, to: string) => boolean
  /** Is told of each instance that a completion ended, since it does not fit its cell, as it was before. */
  readonly outgrown: (inst: string, instance: Instance.Instance) => void
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
 * Step 10 for flows, over the events of the completions that the beat told of.
 *
 * @category combinators
 * @since 0.1.0
 */
export const atCommit = (stage: Stage, { completions, outgrown, tells }: Told): ReadonlyArray<Sent> => {
  if (completions.length > 0) {
    const listeners = listening(stage)
    for (const [cell, document] of completions) {
      const { key, outcome, signal_path } = Document.read(document, []) as unknown as Event
      hear(stage, { listeners, outgrown, tells: (to) => tells(cell, to) }, { key, outcome, signal_path, document })
    }
  }
  const sent: Array<Sent> = []
  for (const [key, { before }] of stage.documents) {
    if (!isInstance(key)) continue
    const instance = Instance.read(Document.read(stage.newest(key), []))
    if (instance === undefined) continue
    const { flow, pc, state } = instance
    if (state === "ready") sent.push({ signal: `${Instance.SIGNALS}/${flow}`, target: key, payload: Document.encode({ pc }) })
    if (Instance.isOver(instance)) sent.push({ signal: `${Instance.ENDED}/${state}`, target: key, payload: undefined })
    else for (const due of newDues(instance, Instance.read(Document.read(before, [])))) sent.push({ signal: `${Instance.SIGNALS}/${flow}`, target: key, payload: Document.encode({ until: due.beat }), due })
  }
  return sent
}

/** Whether a document is an instance. Most of most beats differ from those in the first letter that can. */
export const isInstance = (key: string): boolean => key.charCodeAt(6) === 102 && Instance.idOf(key) !== undefined

/** The times that an instance waits for since this beat. */
const newDues = (instance: Instance.Instance, before: Instance.Instance | undefined): ReadonlyArray<Due> => {
  const known = before === undefined ? [] : Instance.dues(before)
  return Instance.dues(instance).filter(({ beat, moment }) => !known.some((other) => other.beat === beat && other.moment === moment))
}

/** Notes a completion with all instances that hear of it, and has those go on that wait for it. */
const hear = (stage: Stage, { listeners, outgrown, tells }: Hearing, { document, key, outcome, signal_path }: Event): void => {
  for (const heard of [{ key, signal: signal_path }, { key: undefined, signal: signal_path }]) {
    for (const inst of listeners(Instance.listeners(heard))) {
      const place = Instance.subscription(inst, heard)
      const { key: cell } = Instance.address(inst)
      const steps = Document.read(stage.newest(place.key), [])
      const instance = Instance.read(Document.read(stage.newest(cell), []))
      if (steps === undefined || instance === undefined || !tells(cell)) continue
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
        stage.put(Instance.address(inst), Document.encode(ended(instance)), COMMIT)
        outgrown(inst, instance)
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

/** An instance as it is kept; `undefined` where it does not fit its cell. */
const fitting = (instance: Instance.Instance): Document.Document | undefined => {
  try {
    return Document.encode(instance)
  } catch (error) {
    if (error instanceof InvalidValue) return undefined
    throw error
  }
}

/** An instance that cannot go on: without its jobs, of which it has one at least, it has room for so short a note. */
const ended = (instance: Instance.Instance): Instance.Instance => ({ ...instance, jobs: {}, state: "error", note: "does not fit its cell" })
