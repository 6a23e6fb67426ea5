/**
 * The consequences of a rollback for durable runs.
 *
 * A run that began after the horizon ends. A run that was open there goes back to the step that it had made by then, and
 * continues from its log. A run that is over stays over.
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import * as Semantics from "../stage/Semantics.ts"
import { CAPTURE, type Stage } from "../stage/Stage.ts"
import * as Cells from "./Cells.ts"
import * as DeclaredPairs from "./DeclaredPairs.ts"
import { Log } from "./Log.ts"
import * as Note from "./Note.ts"
import type { Pair } from "./Pairs.ts"
import * as SentEvent from "./SentEvent.ts"
import type { Step } from "./Step.ts"

/** The parts of a beat that take runs back. */
export interface Beat {
  readonly stage: Stage
  readonly moment: Semantics.WithSemantics
  resume(oid: string): void
}

/** The changes since the horizon: the runs, and their heard signals. */
interface Changes {
  readonly runs: ReadonlySet<string>
  readonly heard: ReadonlyMap<string, ReadonlyArray<string>>
}

/**
 * The name of the run or the heard signal that a document belongs to; `undefined` for any other document.
 */
export const nameOf = (key: string): string | undefined => {
  if (!key.startsWith(`${Cells.FOLDER}/`)) return undefined
  const [oid = "", folder, ...rest] = key.slice(Cells.FOLDER.length + 1).split("/")
  if (folder === "step" && rest.length === 1) return oid
  return folder === "heard" && rest.length === 2 ? `${oid}/${rest.join("/")}` : undefined
}

const changesOf = (changed: ReadonlyArray<string>): Changes => {
  const heard = Map.groupBy(changed.filter((name) => name.includes("/")), (name) => name.slice(0, name.indexOf("/")))
  return { runs: new Set([...changed.filter((name) => !name.includes("/")), ...heard.keys()]), heard }
}

/**
 * Takes back the runs that changed after the beat `to`. Returns a line for each.
 */
export const takeBack = (beat: Beat, changed: ReadonlyArray<string>, to: number): ReadonlyArray<Value> => {
  const { heard, runs } = changesOf(changed)
  return [...runs].sort().flatMap((oid) => {
    const run = Cells.find(oid, (key) => beat.stage.newest(key))
    const forget = (): void => {
      for (const name of heard.get(oid) ?? []) Cells.erase(beat.stage, Cells.address(oid, "heard", ...name.split("/").slice(1)), CAPTURE)
    }
    if (run === undefined) {
      // A handling that still tries its first segment is no run yet, and hears like one.
      if (Semantics.follows(beat.moment, "attemptsDeclare")) forget()
      return []
    }
    const { begun, enzyme, event, status } = run
    const about = { oid, event, enzyme, begun }
    if (status !== undefined) return [{ ...about, state: status }]
    if (begun > to) return [{ ...about, state: end(beat, run) }]
    forget()
    return [{ ...about, segment: goBack(beat, run, to), state: run.state }]
  })
}

/** Ends a run that began after the horizon. A dead one keeps its letter, and starts over if that is sent again. */
const end = (beat: Beat, { isDead, oid, state }: Cells.Run): string => {
  const { stage } = beat
  if (isDead) {
    const starts = startsOf(Cells.stepsOf(oid, (key) => stage.newest(key)))
    if (starts.anew !== undefined) leave(stage, oid, starts)
    for (const folder of ["step", "heard", SentEvent.FOLDER]) Cells.erase(stage, Cells.address(oid, folder), CAPTURE)
    return state
  }
  leave(stage, oid, { cancel: "back" })
  beat.resume(oid)
  return "gone"
}

/** The number of starts, which the first step has until it is deleted. */
const startsOf = ([first]: Iterable<Step>): Pick<Note.Note, "anew"> => first?.anew === undefined ? {} : { anew: first.anew }

/** Deletes the steps after the horizon. Returns the number of the next segment. */
const goBack = (beat: Beat, { isDead, oid }: Cells.Run, to: number): number => {
  const { stage } = beat
  const log = new Log()
  const steps: Array<Step> = [...Cells.stepsOf(oid, (key) => stage.newest(key))]
  for (const step of steps) if (step.beat <= to) log.add(step)
  for (let k = log.segments; k < steps.length; k++) Cells.erase(stage, Cells.address(oid, "step", String(k)), CAPTURE)
  const before = DeclaredPairs.read(oid, (key) => stage.newest(key))
  const declared = declaredAt(steps, { before, moment: beat.moment, segment: log.segments })
  for (const pair of declared) log.pairs.hear(pair)
  const document = declared.length === 0 ? undefined : DeclaredPairs.write(declared)
  if (declared !== before) stage.put(DeclaredPairs.addressOf(oid), document, CAPTURE)
  if (!isDead) {
    leave(stage, oid, { back: log.segments, pairs: log.pairs.size, ...log.segments === 0 ? startsOf(steps) : {} })
    beat.resume(oid)
  }
  return log.segments
}

/** A segment to which a run goes back, and the pairs that attempts at its newest one declared. */
interface Back {
  readonly before: ReadonlyArray<Pair>
  readonly moment: Semantics.WithSemantics
  readonly segment: number
}

/**
 * The pairs that attempts at a segment declared. Their numbers follow those of the log, and signals that came to the run before the
 * horizon have them. The step of the segment has them, if it was made since.
 */
const declaredAt = (steps: ReadonlyArray<Step>, { before, moment, segment }: Back): ReadonlyArray<Pair> => {
  if (segment === steps.length) return before
  const found = Semantics.follows(moment, "attemptsDeclare") ? steps[segment]?.hears ?? none : none
  return found.length === 0 && before.length === 0 ? before : found
}

const none: ReadonlyArray<Pair> = []

const leave = (stage: Stage, oid: string, note: Note.Note): void => {
  const address = Note.addressOf(oid)
  stage.put(address, Note.write({ ...Note.read(stage.newest(address.key)), ...note }), CAPTURE)
}
