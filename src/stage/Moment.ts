/**
 * What a beat gives to its runs: the state that they read through to, and the
 * moment in which they all run.
 *
 * @module
 */
import type * as Document from "../cell/Document.ts"

/**
 * Committed state.
 *
 * @category models
 * @since 0.1.0
 */
export interface Committed {
  readonly read: (key: string) => Document.Document | undefined
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  readonly blob: (hash: string) => Uint8Array | undefined
}

/** What a draft reads through to: committed state, with what the beat captured laid over it. */
export interface View {
  readonly committed: Committed
  readonly visible: (key: string) => Document.Document | undefined
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
}

/** What a beat gives to each of its runs. */
export interface Moment {
  readonly beat: number
  readonly now: number
  /** Milliseconds that a beat is meant to take, by which waits in beats are timed. Whoever asks has it journaled. */
  readonly tempo: number
  /** 32 hexadecimal digits. */
  readonly seed: string
  readonly hash: (bytes: Uint8Array) => string
}
