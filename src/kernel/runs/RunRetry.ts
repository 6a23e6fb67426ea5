/**
 * The redelivery of a durable run that was given up: it goes on from its log, or starts anew.
 *
 * @module
 */
import * as Cells from "../../durable/Cells.ts"
import * as DeclaredPairs from "../../durable/DeclaredPairs.ts"
import { Log } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { RunAbsent, RunState } from "../../durable/RunError.ts"
import * as SentEvent from "../../durable/SentEvent.ts"
import * as Verbs from "../../operation/Verbs.ts"
import type { Next, Retry } from "../beat/RunExecutor.ts"
import { RUNNING } from "../../operation/Vocabulary.ts"
import * as Requests from "../../reactor/Request.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import * as Write from "../../stage/write/Write.ts"

const UNDONE = "it was cancelled, and what undid its effects is kept, so it does not go on from its log. Start it over with --anew"

/**
 * Prepares the operation of a run for its redelivery. A run that goes on hears its signals again, and makes its failed
 * requests again; one that starts anew loses its log.
 *
 * @throws RunAbsent, RunState, OperationClosed
 */
export const prepare = (retry: Retry): Next => {
  const { anew, draft, isUndone, oid, segment, stage } = retry
  if (isUndone && !anew) throw new RunState({ oid, verb: "retry", reason: UNDONE })
  const run = Cells.find(oid, (key) => draft.visible(key))
  if (run === undefined) {
    if (anew) throw new RunAbsent({ oid })
    return { segment, run: undefined }
  }
  const steps = [...Cells.stepsOf(oid, (key) => stage.visible(key))]
  const place = Note.addressOf(oid)
  const { anew: before = steps[0]?.anew ?? 0 } = Note.read(draft.visible(place.key))
  // A rollback took the run back.
  if (run.status !== undefined) Cells.erase(stage, Cells.address(oid), CAPTURE)
  else Verbs.setState(draft, { oid, state: RUNNING })
  const log = Log.of(anew ? [] : steps)
  if (anew) clear(retry)
  else repeat(retry, log)
  for (const pair of anew ? [] : DeclaredPairs.read(oid, (key) => stage.visible(key))) log.pairs.hear(pair)
  const starts = before + (anew ? 1 : 0)
  if (starts > 0) draft.operate([Write.set(place, { anew: starts })])
  return {
    segment: log.segments === 0 ? undefined : log.segments,
    run: run.status === undefined ? { oid, dues: [], hears: log.pairs.from(0), isAgain: true } : undefined
  }
}

/** Makes the failed requests that the log awaits again. */
const repeat = ({ draft, oid }: Retry, log: Log): void => {
  for (const { awaited } of log.open.values()) if (awaited.kind === "request") draft.operate([], Requests.repetition(oid, awaited.rid))
}

/** Deletes the steps and the heard signals, and cancels the requests in progress. */
const clear = ({ draft, oid, stage }: Retry): void => {
  for (const folder of ["step", "heard", SentEvent.FOLDER]) Cells.erase(stage, Cells.address(oid, folder), CAPTURE)
  draft.operate([], Requests.ending(oid))
}
