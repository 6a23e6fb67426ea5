/**
 * Values as readers are shown them, who may not learn everything.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import type { HandlingReceipt, Receipt } from "../beat/Receipts.ts"
import type { WaitingRow } from "./WaitingList.ts"

/** A reader was refused. */
export interface Denial {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly reader: string
  readonly address: string
}

/** One of the values at an address; the cursor says where to go on and nothing else. */
export interface Seen {
  readonly cursor: string
  readonly value: Value
  /** The value's text; `null` where there is none. */
  readonly text: string
  readonly isReset: boolean
}

/** A handling as a reader is shown it. */
export type ShownHandling = Pick<HandlingReceipt, "enzyme" | "outcome" | "value" | "error"> | { readonly enzyme: string; readonly outcome: "withheld" }

/** A receipt as a reader is shown it. */
export interface ShownReceipt {
  readonly id: string
  readonly status: Receipt["status"] | "withheld"
  readonly handlings: ReadonlyArray<ShownHandling>
}

/** A signal that waits, as a reader is shown it: an id that is minted, a time and an address would tell of the space. */
export type ShownWaiting = Pick<WaitingRow, "signal" | "target" | "why" | "code" | "enzymes" | "attempt"> & { readonly id?: string }

/** A page of the waiting list as a reader may learn it, and the cursor to go on after; `undefined` at the end. */
export interface ShownPage {
  readonly waiting: ReadonlyArray<ShownWaiting>
  readonly next: string | undefined
}
