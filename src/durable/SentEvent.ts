/**
 * Events that a durable run sends, and for whose end it waits.
 *
 *     /rt/ops/<oid>/event/<id>   { open, label? } until the end, and then { end, label? }
 *
 * The signal names the run, so an event without a waiting run costs nothing. The wait begins in the segment that sends the
 * signal: a later one could begin after the end.
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Label } from "../cell/Label.ts"
import type { Draft } from "../stage/Draft.ts"
import type { EventEnd } from "../stage/EventEnd.ts"
import type { AwaitedObject } from "./Handle.ts"
import { address as ofRun } from "./Cells.ts"
import { EventUnsent } from "./RunError.ts"

/** The folder of the events in the dossier of a run. */
export const FOLDER = "event"

/** The state of an awaited event. */
export interface Progress {
  /** The handlings that are not over. */
  readonly open?: number
  readonly end?: EventEnd
  /** The labels of its handlings together, if they are confidential. */
  readonly label?: Label
}

/** The cell of an awaited event. */
export const addressOf = (oid: string, id: string): Address.Address => ofRun(oid, FOLDER, id)

/** The state of an awaited event; `undefined` before its capture. */
export const read = (document: Document.Document | undefined): Progress | undefined =>
  Document.read(document, []) as unknown as Progress | undefined

/** A state as a document. */
export const write = ({ end, label, open }: Progress): Document.Document => Document.encode({
  ...end === undefined ? {} : { end },
  ...label === undefined || label.length === 0 ? {} : { label },
  ...open === undefined ? {} : { open }
})

/**
 * Begins the wait for an event that the draft sends.
 *
 * @throws EventUnsent
 */
export const awaited = (draft: Draft, id: string, oid: string): Extract<AwaitedObject, { readonly kind: "event" }> => {
  const at = draft.emissions.findIndex((sent) => sent.id === id)
  const sent = draft.emissions[at]
  if (sent === undefined) throw new EventUnsent({ id: String(id), reason: "the run did not send it since its last await" })
  if (sent.space !== undefined) throw new EventUnsent({ id, reason: `it goes to the space ${sent.space}, which keeps its receipt` })
  if (sent.tells !== undefined) throw new EventUnsent({ id, reason: "the run waits for it already" })
  draft.emissions[at] = { ...sent, tells: oid }
  return { kind: "event", id }
}
