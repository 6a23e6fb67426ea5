/**
 * Own ids: the ids that callers give their signals.
 *
 * The event of such a signal has a digest of its own id as its id, so that own ids of different callers, signals and
 * targets cannot collide. The own id stands beside the digest in the receipt's row, and names the event as well as the
 * digest does. One that looks like an event's id is refused, so each text is one or the other.
 *
 * @module
 */
import { InvalidSignal } from "../../stage/OutgoingSignal.ts"
import type { ReceiptRow, SpaceStore } from "../../persistence/Persistence.ts"
import { originOf } from "./Signal.ts"
import { IdAmbiguous, type NamedEvent } from "./SpaceError.ts"

/** Most characters of an own id. */
const MAX_LENGTH = 512

/** The most events that one own id names: the newest ones. */
export const MAX_NAMED = 20

/** The ids that the runtime gives: `x.12.0` at the ingress, `12.0.3` or `12.cei.0` in a beat, and digests. */
const minted = /^(?:x\.\d+\.\d+|\d+\.[a-z0-9]+\.\d+|[0-9a-f]{32})$/

/** Tests whether a text has the form of an event's id. */
export const isMinted = (text: string): boolean => minted.test(text)

/**
 * Refuses an own id that no event can have.
 *
 * @throws InvalidSignal
 */
export const check = (own: unknown): void => {
  if (typeof own !== "string" || own === "" || own.length > MAX_LENGTH) {
    throw new InvalidSignal({ reason: `its id has ${String(own).length} characters; give 1 to ${MAX_LENGTH}` })
  }
  if (isMinted(own)) {
    throw new InvalidSignal({
      reason: `its id "${own}" looks like one that the runtime gives (x.12.0, 12.0.3 or 32 hexadecimal digits); give it a prefix, such ` +
        `as "my-${own}"`
    })
  }
}

/**
 * The only event that a text names; `undefined` for none.
 *
 * @throws IdAmbiguous
 */
export const only = <Event extends NamedEvent>(text: string, events: ReadonlyArray<Event>): Event | undefined => {
  if (events.length > 1) throw new IdAmbiguous({ id: text, events })
  return events[0]
}

/** The own id in records that have a place for one. */
export const ownField = (own: string | undefined): { readonly own?: string } => own === undefined ? {} : { own }

/** The own id of an event, from its receipt; `undefined` if its caller gave none, and after the receipt is pruned. */
export const ownOf = (store: Pick<SpaceStore, "receipts">, id: string): string | undefined =>
  originOf(id) === "caller" ? ownIn(store.receipts(id)) : undefined

export const ownIn = (rows: ReadonlyArray<ReceiptRow>): string | undefined => rows.find(({ own }) => own !== undefined)?.own
