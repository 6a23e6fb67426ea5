/**
 * The redelivery of a durable run that was given up: it goes on from its log, or starts anew.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import { Log } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { RunAbsent } from "../../durable/RunError.ts"
import * as Step from "../../durable/Step.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Verbs from "../../operation/Verbs.ts"
import { RUNNING } from "../../operation/Vocabulary.ts"
import * as Requests from "../../reactor/Request.ts"
import type { Draft } from "../../stage/Draft.ts"
import { CAPTURE, type Stage } from "../../stage/Stage.ts"
import * as Write from "../../stage/Write.ts"
import { stepAddress } from "./Segment.ts"

/** A run to send again. */
export interface Retry {
  readonly oid: string
  /** Whether it starts over, with other idempotency keys. */
  readonly anew: boolean
  readonly draft: Draft
  readonly stage: Stage
}

/**
 * Prepares the operation of a run for its redelivery. A run that goes on makes its failed requests again; one that starts
 * anew loses its log. Returns the refusal, if any.
 *
 * @category combinators
 * @since 0.1.0
 */
export const prepare = (retry: Retry): RunAbsent | undefined => {
  const { anew, draft, oid } = retry
  if (Dossier.live(draft.get(Dossier.address(oid).text)) === undefined) return anew ? new RunAbsent({ oid }) : undefined
  const steps = stepsOf(retry)
  const place = Note.addressOf(oid)
  const { anew: before = steps[0]?.anew ?? 0 } = Note.read(draft.visible(place.key))
  if (anew) {
    clear(retry, steps)
    draft.operate([Write.set(place, { anew: before + 1 })])
  } else {
    for (const { awaited } of Log.of(steps).open.values()) {
      if (awaited.kind === "request") draft.operate([], Requests.repetition(oid, awaited.rid))
    }
    if (before > 0) draft.operate([Write.set(place, { anew: before })])
  }
  Verbs.setState(draft, { oid, state: RUNNING })
  return undefined
}

const stepsOf = ({ oid, stage }: Retry): ReadonlyArray<Step.Step> => {
  const steps: Array<Step.Step> = []
  for (let step = stepAt(stage, oid, 0); step !== undefined; step = stepAt(stage, oid, steps.length)) steps.push(step)
  return steps
}

const stepAt = (stage: Stage, oid: string, k: number): Step.Step | undefined =>
  Step.read((part) => stage.visible(stepAddress(oid, k, part).key))?.step

/** Deletes the steps and the heard signals, and cancels the requests in progress. */
const clear = ({ draft, oid, stage }: Retry, steps: ReadonlyArray<Step.Step>): void => {
  steps.forEach(({ parts = 0 }, k) => {
    stage.put(stepAddress(oid, k), undefined, CAPTURE)
    for (let part = 0; part < parts; part++) stage.put(stepAddress(oid, k, part), undefined, CAPTURE)
  })
  erase(stage, Dossier.address(oid, "heard").id)
  for (const rid of stage.merged("space", Requests.folderOf(oid))) draft.operate([], Requests.cancellation(rid))
}

/** Deletes all cells below another one. */
const erase = (stage: Stage, id: string): void => {
  for (const name of stage.merged("space", id)) {
    const address = Address.make(`${id}/${name}`)
    erase(stage, address.id)
    if (stage.newest(address.key) !== undefined) stage.put(address, undefined, CAPTURE)
  }
}
