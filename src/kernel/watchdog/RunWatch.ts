/**
 * The run watch: called when a run takes and leaves the thread.
 *
 * In development it detects access to globals beside the transaction. A space works the
 * same with and without it.
 *
 * @module
 */
import * as Context from "effect/Context"

/** A run that is about to begin, with the changes that caused it. */
export interface Stop {
  readonly beat: number
  readonly node: string
  readonly causes: ReadonlyArray<string>
}

/** Callbacks of the synchronous part of each run. */
export interface Watch {
  /** A run takes the thread. */
  readonly enter: () => void
  /** It leaves the thread. */
  readonly leave: () => void
  /** A node with a breakpoint is about to run. */
  readonly stop: (at: Stop) => void
}

/**
 * The current run watch; `undefined` by default.
 *
 * @category references
 * @since 0.1.0
 */
export const RunWatch = Context.Reference<Watch | undefined>("systole/kernel/RunWatch", { defaultValue: () => undefined })
