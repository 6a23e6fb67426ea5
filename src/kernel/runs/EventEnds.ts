/**
 * Ends of events for which durable runs wait.
 *
 * The first beat of an event keeps the number of its handlings with the run, and later ones count down. The count follows from
 * the cells alone, so a replay from any beat tells the same end. An event has ended for its run when a handling is given up,
 * whatever the others do: that letter may be sent again much later.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Label from "../../cell/Label.ts"
import * as Cells from "../../durable/Cells.ts"
import * as SentEvent from "../../durable/SentEvent.ts"
import type { EventEnd } from "../../stage/EventEnd.ts"
import * as Semantics from "../../stage/Semantics.ts"
import { COMMIT } from "../../stage/Stage.ts"
import type { Handling, InFlight } from "../model/InFlight.ts"
import type { RunMerge } from "../beat/RunExecutor.ts"

/**
 * Keeps the progress of an event with the run that waits for its end. Returns the run if the event has ended.
 */
export const tell = (flight: InFlight, { captured: { moment, stage, transaction } }: RunMerge): string | undefined => {
  const { beat } = moment
  const { captured, over, signal: { id, label: sent = Label.none, tells: oid = "" } } = flight
  const address = SentEvent.addressOf(oid, id)
  const before = SentEvent.read(stage.newest(address.key))
  if (before?.end !== undefined || !isOpen(oid, (key) => stage.newest(key))) return undefined
  // A run that heard the signal is no handling of its own.
  const ended = over.filter((handling) => handling.beat === beat && !Cells.isName(handling.key))
  const isHeard = over.some(({ key }) => Cells.isName(key))
  const open = captured === beat ? flight.open : (before?.open ?? 0) - ended.length
  // Without a handling of its own, the end tells whether a run hears signals at the target.
  const isUnhandled = captured === beat && open === 0 && ended.length === 0 && Semantics.follows(moment, "endTellsTarget")
  const place = isUnhandled ? labelOf(flight, transaction) : Label.none
  const label = [before?.label ?? sent, place, ...ended.map((handling) => handling.label)].reduce(Label.join)
  const end = endOf(flight, { ended, isTaken: captured !== beat || ended.length > 0 || isHeard, open })
  const progress = end === undefined ? { open, label } : { end: { ...end, beat, id }, label }
  stage.put(address, SentEvent.write(progress), COMMIT)
  if (end === undefined) return undefined
  transaction.resumed.push(oid)
  return oid
}

/** The label of the target of an event. */
const labelOf = ({ signal: { target } }: InFlight, { labels }: Pick<RunMerge["captured"]["transaction"], "labels">): Label.Label =>
  target === undefined || labels === undefined ? Label.none : labels.of(Address.parse(target))

/** Whether a run still waits, or would go on with its letter. */
const isOpen = (oid: string, read: Cells.Read): boolean => {
  const run = Cells.find(oid, read)
  return run !== undefined && run.status === undefined
}

/** The handlings that ended in this beat, the number of those that go on, and whether there are or were any. */
interface Handlings {
  readonly ended: ReadonlyArray<Handling>
  readonly open: number
  readonly isTaken: boolean
}

/** The end of an event; `undefined` while a handling goes on. */
const endOf = (
  { cycle, discarded }: Pick<InFlight, "cycle" | "discarded">,
  { ended, isTaken, open }: Handlings
): Omit<EventEnd, "beat" | "id"> | undefined => {
  if (discarded) return { status: "discarded" }
  for (const { key, outcome } of ended) {
    if (outcome !== undefined && "code" in outcome) return { status: "dead", enzyme: key, tag: outcome.tag, code: outcome.code }
  }
  if (open > 0) return undefined
  return { status: isTaken ? "handled" : cycle ? "cycle" : "no-match" }
}
