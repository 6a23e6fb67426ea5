/**
 * The run watch of a development host. A space works the same with and without it.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { CodePlace } from "../../diagnostic/CodePlace.ts"

/** A run that is about to begin, with the changes that caused it. */
export interface Stop {
  readonly beat: number
  readonly node: string
  readonly causes: ReadonlyArray<string>
}

/** The callbacks of a watch. */
export interface RunWatch {
  /** The place in a module's code from which an error comes, with its source line, if the host tells it. */
  readonly placeOf: (error: unknown) => CodePlace | undefined
  /** A node with a breakpoint is about to run. */
  readonly stop: (at: Stop) => void
}

/**
 * The current run watch; `undefined` by default.
 */
export const CurrentRunWatch = Context.Reference<RunWatch | undefined>("systole/kernel/RunWatch", { defaultValue: () => undefined })
