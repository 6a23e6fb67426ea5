/**
 * The information-flow check of a beat's runs.
 *
 * The rules of a space lie in one of its cells, so a replay applies the rules of
 * the replayed beat. A space without rules pays for one read per beat.
 *
 * @module
 */
import * as Label from "../../../cell/Label.ts"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import * as Dossier from "../../../operation/Dossier.ts"
import * as Labels from "../../../stage/Labels.ts"
import { CAPTURE, type Stage } from "../../../stage/Stage.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { Captured } from "../Phases.ts"
import type { LabelChange } from "../../model/BeatStart.ts"
import type { Documents } from "../../model/Documents.ts"
import { failure, undoFailure } from "../../model/Failure.ts"
import { type Handling, isMerged, type Outcome } from "../../model/InFlight.ts"
import type { LabelLine, LabelLines } from "../../journal/Journal.ts"
import * as DiagnosticsCommit from "./DiagnosticsCommit.ts"

/** The rules that become active by this configuration; `undefined` if they are active already. */
export const change = (rules: Labels.Rules | undefined, documents: Pick<Documents, "read">): LabelChange | undefined => {
  const document = rules === undefined ? undefined : Labels.documentOf(rules)
  return documents.read(Labels.ADDRESS.key)?.text === document?.text ? undefined : { document }
}

/** Stages the rules on labels that become active, before any run. */
export const put = (change: LabelChange | undefined, stage: Stage): void => {
  if (change !== undefined) stage.put(Labels.ADDRESS, change.document, CAPTURE)
}

/** Checks a completed run: the label of each cell that it writes must contain the run's label. */
export const judge = (work: Pick<BeatTransaction, "diagnostics" | "labels">, handling: Handling, outcome: Outcome): Outcome => {
  const { labels } = work
  const { draft, key } = handling
  if (labels === undefined || draft === undefined) return outcome
  handling.label = draft.label
  if (!isMerged(outcome)) return outcome
  const leaving = labels.leaving(draft.label, key)
  // An attached diagnostic fails its operation, which is a write.
  const attached = draft.reports.flatMap(({ attach }) => attach === undefined ? [] : [Dossier.address(attach).key])
  // A receipt tells the sender of a signal that a run hears it, so to begin to hear is a write at the target.
  const heard = outcome.kind === "waits" ? outcome.begun.map(([, target]) => target) : none
  const { bindings, blobs, emissions } = draft
  const sinks = draft.launches.flatMap(({ sink }) => sink ?? [])
  const refused = labels.refusal(leaving, { keys: [...draft.own?.keys ?? none, ...attached, ...heard], emissions, bindings, blobs, sinks })
  if (refused !== undefined) return outcome.kind === "dead" ? undoFailure(failure(refused)) : failure(refused)
  handling.label = leaving
  if (leaving !== draft.label) {
    const taken = draft.label.filter((atom) => !leaving.includes(atom))
    const note = `${key} left out ${taken.join(", ")} in what it wrote and sent`
    work.diagnostics.push(Diagnostic.of("label/declassified", { ...DiagnosticsCommit.about(handling), note }))
  }
  return outcome
}

/**
 * Checks the signals that a run hears between its attempts, as {@link judge} checks those of a run that waits.
 *
 * @throws LabelBelow
 */
export const checkHeard = ({ labels }: Pick<BeatTransaction, "labels">, { key, label }: Handling, targets: ReadonlyArray<string>): void => {
  const refused = labels?.refusal(labels.leaving(label, key), { keys: targets })
  if (refused !== undefined) throw refused
}

/** Whether the handling's label exceeds its event's. The event's lane then does not wait for its next attempt. */
export const isRisen = ({ draft, flight: { signal }, label }: Handling): boolean =>
  !Label.isWithin(draft?.label ?? label, signal.label ?? Label.none)

/** The labels of a journal entry; `undefined` if the space has no rules. */
export const lines = (work: Pick<Captured, "inputs" | "labels" | "runs">): LabelLines | undefined => {
  if (work.labels === undefined) return undefined
  const found: Record<keyof LabelLines, ReadonlyArray<LabelLine>> = {
    in: listed(work.inputs.map(({ flight }) => flight.signal.label)),
    again: listed(work.inputs.map(({ pending }) => pending.again?.label)),
    runs: listed(work.runs.map(({ label }) => label))
  }
  const some = Object.entries(found).filter(([, list]) => list.length > 0)
  return some.length === 0 ? undefined : Object.fromEntries(some)
}

/** The label of an input or a run, by its number. */
export const at = (list: ReadonlyArray<LabelLine> | undefined, number: number): Label.Label | undefined =>
  list?.find(([at]) => at === number)?.[1]

const none: ReadonlyArray<string> = []

const listed = (labels: ReadonlyArray<Label.Label | undefined>): ReadonlyArray<LabelLine> =>
  labels.flatMap((label, i): ReadonlyArray<LabelLine> => label === undefined || label.length === 0 ? [] : [[i, label]])
