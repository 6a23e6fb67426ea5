/**
 * The receipts of events.
 *
 * @module
 */
import type { Label } from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import type { CodePlace } from "../../diagnostic/CodePlace.ts"
import { codes } from "../../stage/EventEnd.ts"

/** The failure of a handling. A development host adds the place from which it was thrown. */
export type HandlingError = {
  readonly tag: string
  readonly code: string
  readonly message: string
} & { readonly [F in keyof CodePlace]?: CodePlace[F] }

/** The outcome of one enzyme's handling of an event. */
export interface HandlingReceipt {
  readonly enzyme: string
  /** The durable run that heard the signal, if it is no handling of its own. */
  readonly run?: string
  readonly outcome: "ok" | "dead"
  readonly beat: number
  readonly attempt: number
  /** The number of segments of a durable run that had several, of which each has a receipt: `/rt/receipts/<event>#/segment/<k>`. */
  readonly segments?: number
  /** The return value of the run; `{}` if it returned none. */
  readonly value: Value
  readonly error?: HandlingError
  /** The label of the handling, if it is not empty. */
  readonly label?: Label | undefined
}

/** The receipt of an event. */
export interface Receipt {
  readonly id: string
  /** The id as its caller gave it, if one did. */
  readonly own?: string
  /**
   * `pending` until the last handling is over; `discarded` if a rollback or a release dropped the event; `pruned` if all
   * handlings are over and the journal no longer has their entries.
   */
  readonly status: "pending" | "handled" | "no-match" | "cycle" | "dead" | "discarded" | "pruned"
  /** The beat that captured the event; `undefined` while it waits. */
  readonly beat: number | undefined
  readonly handlings: ReadonlyArray<HandlingReceipt>
  /** The label of the event, if it is not empty. */
  readonly label?: Label | undefined
}

/**
 * The stable code of an event that ended without success; `undefined` for one that is pending, handled, or of an unknown end.
 *
 * A dead event has the code of its first dead letter.
 */
export const codeOf = ({ handlings, status }: ReceiptEnd): string | undefined => {
  if (status === "dead") return handlings.find((handling) => handling.outcome === "dead")?.error?.code ?? "signal/dead"
  return codes[status as keyof typeof codes]
}

/** The parts of a receipt that tell how its event ended, also as a reader sees it. */
export interface ReceiptEnd {
  readonly status: Receipt["status"] | "withheld"
  readonly handlings: ReadonlyArray<{ readonly outcome: string; readonly error?: HandlingReceipt["error"] | undefined }>
}
