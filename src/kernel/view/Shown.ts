/**
 * Values as readers see them: without the parts that a clearance withholds.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type { denials } from "../../contract/Signals.ts"
import type { HandlingReceipt, Receipt } from "../model/Receipt.ts"
import type { ShownWaiting } from "./WaitingList.ts"

/** A denial: a reader was refused an address. */
export type Denial = AnswerOf<typeof denials>["denials"][number]

/** One of the values at an address, with the cursor after it. */
export interface SeenValue {
  readonly cursor: string
  readonly value: Value
  /** The value's text; `null` for an absent value. */
  readonly text: string
  readonly isReset: boolean
}

/** A handling as a reader sees it. */
export type ShownHandling = Pick<HandlingReceipt, "enzyme" | "outcome" | "value" | "error"> | {
  readonly enzyme: string
  readonly outcome: "withheld"
}

/** A receipt as a reader sees it. */
export interface ShownReceipt {
  readonly id: string
  readonly own?: string
  readonly status: Receipt["status"] | "withheld"
  readonly handlings: ReadonlyArray<ShownHandling>
}

/** A page of the waiting list as a reader sees it, and the cursor of the next page; `undefined` at the end. */
export interface ShownPage {
  readonly waiting: ReadonlyArray<ShownWaiting>
  readonly next: string | undefined
}
