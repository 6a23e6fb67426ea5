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
import * as Document from "../cell/Document.ts"
import { InvalidValue, type Value } from "../cell/Value.ts"
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
  /** The completions, each by the cell of its event. */
  readonly completions: ReadonlyArray<readonly [cell: string, event: Document.Document]>
  /** Whether what lies in one cell may be told in another. */
  readonly tells: (from: string, to: string) => boolean
  /** Is told of the cell of each instance that a completion ended, since it does not fit there. */
  readonly outgrown: (cell: string) => void
}

/** What a completion tells. */
interface Event {
  readonly key: string
  readonly outcome: string
  readonly signal_path: string
  readonly telemetry: Value
}

/**
 * Step 10 for flows, over the events of the completions that the beat told of.
 *
 * @category combinators
 * @since 0.1.0
 */
export const atCommit = (stage: Stage, { completions, outgrown, tells }: Told): ReadonlyArray<Sent> => {
  for (const [cell, completion] of completions) hear(stage, Document.read(completion, []) as unknown as Event, { tells: (to) => tells(cell, to), outgrown })
  const sent: Array<Sent> = []
  for (const key of stage.documents.keys()) {
    // Most documents of most beats differ from instances in the first letter that can.
    if (key.charCodeAt(6) !== 102 || Instance.idOf(key) === undefined) continue
    const instance = Instance.read(Document.read(stage.newest(key), []))
    if (instance === undefined) continue
    const { flow, pc, state } = instance
    if (state === "ready") sent.push({ signal: `${Instance.SIGNALS}/${flow}`, target: key, payload: Document.encode({ pc }) })
    else if (Instance.isOver(instance)) sent.push({ signal: `${Instance.ENDED}/${state}`, target: key, payload: undefined })
  }
  return sent
}

/** Notes a completion with all instances that hear of it, and has those go on that wait for it. */
const hear = (stage: Stage, { key, outcome, signal_path, telemetry }: Event, { outgrown, tells }: Pick<Told, "outgrown"> & { readonly tells: (to: string) => boolean }): void => {
  const place = Instance.subscriptions(signal_path)
  const listeners = Document.read(stage.newest(place.key), []) as Readonly<Record<string, string>> | undefined
  if (listeners === undefined) return
  const staying: Record<string, string> = {}
  for (const [inst, step] of Object.entries(listeners)) {
    const { key: cell } = Instance.address(inst)
    const instance = Instance.read(Document.read(stage.newest(cell), []))
    const job = instance?.jobs[step]
    if (instance === undefined || job === undefined || Instance.isOver(instance) || !tells(cell)) continue
    const jobs = { ...instance.jobs, [step]: { ...job, event: { key, outcome, telemetry } } }
    const grown = fitting({ ...instance, jobs, state: instance.state === "waiting" ? "ready" : instance.state })
    if (grown === undefined) outgrown(cell)
    else if (job.again) staying[inst] = step
    stage.put(Instance.address(inst), grown ?? Document.encode(ended(instance)), COMMIT)
  }
  stage.put(place, Object.keys(staying).length === 0 ? undefined : Document.encode(staying), COMMIT)
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
