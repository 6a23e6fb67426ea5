/**
 * The start of a beat, with the rules, modules and limits in force.
 *
 * @module
 */
import type * as Document from "../../cell/Document.ts"
import type { BindingTable } from "../../registry/Bindings.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Activation } from "./Modules.ts"
import type { TitleCell } from "./Titles.ts"

/** An effect, and the total time of its runs in one beat, in whole milliseconds of the host. */
export type EffectTime = readonly [node: string, millis: number]

/** The number and the captured clock of a beat. */
export interface Start {
  readonly beat: number
  readonly clock: number
}

/** Label rules that take effect with a beat: their document, or `undefined` if they were removed. */
export interface LabelChange {
  readonly document: Document.Document | undefined
}

/** The conditions at the start of a beat. */
export interface BeatStart extends Start, Activation {
  /** The rules of the beat: the newest ones, or in a replay those of the recorded beat. */
  readonly semantics: number
  /** 32 hexadecimal digits. */
  readonly seed: string
  /** The nominal length of a beat, in milliseconds. */
  readonly tempo: number
  /** The captured input of each ledger, by its place in the list. In a replay, only the input that the journal holds. */
  readonly inputs: ReadonlyArray<unknown>
  /** The isolation of enzymes without a setting of their own. */
  readonly isolation: Isolation
  /** The run times of effects in the previous beat, if at least one millisecond. */
  readonly spent: ReadonlyArray<EffectTime>
  /** The number of registrations and withdrawals since the previous beat. */
  readonly activated: number
  /** Content that becomes visible to runs. */
  readonly content: ReadonlyArray<string>
  /** The changed titles of enzymes from this beat on. */
  readonly titled: ReadonlyArray<TitleCell>
  /** Label rules that take effect. */
  readonly labels?: LabelChange | undefined
}

/** Whether an enzyme takes the signal of a diagnostic at a place. */
export type Hears = (signal: string, place: string, table: BindingTable) => boolean
