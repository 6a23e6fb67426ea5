/**
 * The beat's state for its runs: the committed state below, and the shared clock, tempo and seed.
 *
 * @module
 */
import type * as Document from "../cell/Document.ts"
import type { Lineage } from "./write/ReadLog.ts"

/**
 * Committed state.
 */
export interface CommittedState {
  readonly read: (key: string) => Document.Document | undefined
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  readonly blob: (hash: string) => Uint8Array | undefined
}

/** The state below a draft: committed state, with the changes of the capture on top. */
export interface View {
  readonly committed: CommittedState
  readonly visible: (key: string) => Document.Document | undefined
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  /** The sources of derived cells, if there are any. */
  readonly lineage?: Lineage | undefined
}

/** The parameters that all runs of a beat share. */
export interface BeatClock {
  readonly beat: number
  /** The number of the rules that the beat follows: the present ones, or in a replay those of the recorded beat. */
  readonly semantics: number
  /** The clock of the space, in milliseconds since 1970. It times waits, and never goes back. */
  readonly clock: number
  /** The date that runs see, in milliseconds since 1970. It is the clock, less the resets of the clock before this beat. */
  readonly date: number
  /** The nominal duration of a beat in milliseconds, which times waits in beats. Reading it journals it. */
  readonly tempo: number
  /** 32 hexadecimal digits. */
  readonly seed: string
  readonly hash: (bytes: Uint8Array) => string
}
