/**
 * The run watch: told when a run has the host to itself.
 *
 * In development something may watch what a run reaches for around its
 * transaction; a space works the same with and without it. (Architecture,
 * section 9.)
 *
 * @module
 */
import * as Context from "effect/Context"

/** A run that is about to begin, and what changed before it. */
export interface Stop {
  readonly beat: number
  readonly node: string
  readonly causes: ReadonlyArray<string>
}

/** Told of the synchronous part of each run. */
export interface Watch {
  readonly enter: () => void
  readonly leave: () => void
  /** Runs each computation and materializer a second time, aside, to find out whether it makes the same of the same. */
  readonly rechecks: boolean
  /** A node is about to run before which somebody asked to stop. */
  readonly stop: (at: Stop) => void
}

/**
 * Who watches runs; nobody, unless it is given.
 *
 * @category references
 * @since 0.1.0
 */
export const RunWatch = Context.Reference<Watch | undefined>("systole/kernel/RunWatch", { defaultValue: () => undefined })
