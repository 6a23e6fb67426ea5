/**
 * Labelling: what the runs of a beat know, and what may follow from that.
 *
 * The rules by which a space runs lie in one of its cells, so each kept beat is
 * run again by the rules of then. A space without rules asks once in each beat
 * whether it has any. (Architecture, section 10.)
 *
 * @module
 */
import * as Label from "../../cell/Label.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Labels from "../../stage/Labels.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { LabelChange } from "../model/Begun.ts"
import type { Documents } from "../model/Documents.ts"
import { failure } from "../model/Failure.ts"
import type { Handling, Outcome } from "../model/Flight.ts"
import type { LabelLine, LabelLines } from "../model/Journal.ts"
import * as DiagnosticsCommit from "./DiagnosticsCommit.ts"

/** What becomes active where these rules are configured; `undefined` where they are active already. */
export const change = (rules: Labels.Rules | undefined, documents: Pick<Documents, "read">): LabelChange | undefined => {
  const document = rules === undefined ? undefined : Labels.documentOf(rules)
  return documents.read(Labels.ADDRESS.key)?.text === document?.text ? undefined : { document }
}

/** Writes what becomes active, before any run, and finds the labels of the beat. */
export const begin = (work: BeatWork): void => {
  const { stage } = work
  const { labels } = work.begun
  if (labels !== undefined) stage.put(Labels.ADDRESS, labels.document, CAPTURE)
  work.labels = Labels.read(stage.visible(Labels.ADDRESS.key))
}

/** A run is over: what it leaves has to be where all that it was told by may be known. */
export const judge = (work: BeatWork, handling: Handling, outcome: Outcome): Outcome => {
  const { labels } = work
  const { draft, key } = handling
  if (labels === undefined || draft === undefined) return outcome
  handling.label = draft.label
  if (outcome.kind !== "ok") return outcome
  const leaving = labels.leaving(draft.label, key)
  // A fact fails the operation that it is attached to.
  const attached = draft.reports.flatMap(({ attach }) => attach === undefined ? [] : [Dossier.address(attach).key])
  const refused = labels.refusal(leaving, { keys: [...draft.own?.keys ?? none, ...attached], emissions: draft.emissions, bindings: draft.bindings, blobs: draft.blobs })
  if (refused !== undefined) return failure(refused)
  handling.label = leaving
  if (leaving !== draft.label) {
    const taken = draft.label.filter((atom) => !leaving.includes(atom))
    work.diagnostics.push(Diagnostic.of("label/declassified", { ...DiagnosticsCommit.about(handling), note: `${key} left out ${taken.join(", ")} in what it wrote and sent` }))
  }
  return outcome
}

/** Whether the handling knows more than its event tells: then nothing that its event holds up waits for it. */
export const isRisen = ({ draft, flight: { signal }, label }: Handling): boolean => !Label.isWithin(draft?.label ?? label, signal.label ?? Label.none)

/** What an entry says of labels; `undefined` in a space that has none. */
export const lines = (work: BeatWork): LabelLines | undefined => {
  if (work.labels === undefined) return undefined
  const found: Record<keyof LabelLines, ReadonlyArray<LabelLine>> = {
    in: listed(work.captured.map(({ flight }) => flight.signal.label)),
    again: listed(work.captured.map(({ pending }) => pending.again?.label)),
    runs: listed(work.runs.map(({ label }) => label))
  }
  const some = Object.entries(found).filter(([, list]) => list.length > 0)
  return some.length === 0 ? undefined : Object.fromEntries(some)
}

/** The label of a number among such lines. */
export const at = (list: ReadonlyArray<LabelLine> | undefined, number: number): Label.Label | undefined => list?.find(([at]) => at === number)?.[1]

const none: ReadonlyArray<string> = []

const listed = (labels: ReadonlyArray<Label.Label | undefined>): ReadonlyArray<LabelLine> =>
  labels.flatMap((label, i): ReadonlyArray<LabelLine> => label === undefined || label.length === 0 ? [] : [[i, label]])
