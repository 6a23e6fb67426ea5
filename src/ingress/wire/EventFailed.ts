/**
 * The failure of an event, as the answer to the request that waits for it.
 *
 * The event exists and is durable, so the answer has the place of its receipt, and a repeated request gets the same answer.
 *
 * @module
 */
import type * as Refusal from "../../contract/Refusal.ts"
import { codeOf, type ReceiptEnd } from "../../kernel/model/Receipt.ts"

/** The kinds of the ends. */
const kinds: Partial<Record<ReceiptEnd["status"], Refusal.Kind>> = {
  dead: "dead", "no-match": "absent", cycle: "closed", discarded: "closed"
}

/** A receipt in an answer. Its handlings have their values as JSON. */
export interface ReceiptAnswer extends ReceiptEnd {
  readonly id: string
  readonly reason?: string | undefined
  readonly handlings: ReadonlyArray<ReceiptEnd["handlings"][number] & { readonly enzyme: string }>
}

/**
 * An event ended without success.
 */
export class EventFailed extends Error {
  readonly _tag = "EventFailed"
  override readonly name = "EventFailed"
  readonly kind: Refusal.Kind
  readonly code: string
  /** The path of the receipt, and the receipt. */
  readonly location: string
  readonly event: ReceiptAnswer

  constructor(end: { readonly kind: Refusal.Kind; readonly code: string; readonly location: string; readonly event: ReceiptAnswer }) {
    super(detailOf(end.event))
    this.kind = end.kind
    this.code = end.code
    this.location = end.location
    this.event = end.event
  }
}

const detailOf = ({ handlings, id, reason, status }: ReceiptAnswer): string => {
  if (reason !== undefined) return reason
  const [first] = handlings.filter(({ outcome }) => outcome === "dead")
  if (first === undefined) return `Event ${id} is over: ${status}`
  const { message, place } = first.error ?? {}
  const said = message === undefined ? "" : `: ${message}${place === undefined || message.includes(place) ? "" : ` at ${place}`}`
  return `Event ${id} is over: enzyme "${first.enzyme}" gave it up${said}. A repeated request gets this answer; to try again, send the ` +
    "dead letter again or a new event"
}

/**
 * The failure of a receipt; `undefined` for one that is handled, pending, pruned or withheld.
 */
export const of = (event: ReceiptAnswer, location: string): EventFailed | undefined => {
  const [code, kind] = [codeOf(event), kinds[event.status]]
  return code === undefined || kind === undefined ? undefined : new EventFailed({ kind, code, location, event })
}
