/**
 * The beginning of a beat: its start, and the rules, modules and limits that it
 * goes by.
 *
 * @module
 */
import type * as Document from "../../cell/Document.ts"
import type { BindingTable } from "../../registry/Bindings.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Spent } from "./Journal.ts"
import type { Activation } from "./Modules.ts"
import type { Titled } from "./Titles.ts"

/** The start of a beat: its number and its captured clock. */
export interface Start {
  readonly beat: number
  readonly clock: number
}

/** Rules that become active with a beat: their document, or none where there are none any more. */
export interface LabelChange {
  readonly document: Document.Document | undefined
}

/** The circumstances that a beat begins with. */
export interface Begun extends Start, Activation {
  /** 32 hexadecimal digits. */
  readonly seed: string
  /** Milliseconds that a beat is meant to take. */
  readonly tempo: number
  /** The captured input of each ledger that has any, by its place in the list; in a replay, as far as the journal has it. */
  readonly inputs: ReadonlyArray<unknown>
  /** The isolation of enzymes that do not say. */
  readonly isolation: Isolation
  /** How long runs of effects took in the beat before, where that was a millisecond or more. */
  readonly spent: ReadonlyArray<Spent>
  /** How many registrations and withdrawals took effect since the beat before. */
  readonly activated: number
  /** Content that runs can see for the first time. */
  readonly content: ReadonlyArray<string>
  /** The titles of enzymes in ledgers from this beat on, where they change. */
  readonly titled: ReadonlyArray<Titled>
  /** Rules on labels that become active. */
  readonly labels?: LabelChange | undefined
}

/** Whether an enzyme takes the signal that tells of the fact at a place. */
export type Hears = (signal: string, place: string, table: BindingTable) => boolean
