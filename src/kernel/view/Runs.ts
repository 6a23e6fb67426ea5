/**
 * The durable runs of a space, for the outside.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { PageRequest } from "./CellList.ts"
import type { ControlError, ReadError } from "./Expected.ts"

/** A handle that a run has open. */
export interface AwaitedRow {
  readonly number: number
  /** `sleep`, a request by its id, or a signal and its cell. */
  readonly object: string
  /** The beat of the segment that made it. */
  readonly since: number
  /** The end of a sleep: a beat, milliseconds since 1970, or both. */
  readonly due?: { readonly beat?: number | undefined; readonly moment?: number | undefined }
}

/** A durable run in a list. */
export interface RunRow {
  /** Its operation, which names the run. */
  readonly oid: string
  /** The id of its event. */
  readonly event: string
  readonly enzyme: string
  /**
   * `waiting` for a result; `running` if its next segment is due or repeated; `held` while the space is paused or the
   * enzyme is absent, and without its module; `dead` if it was given up; `over`.
   */
  readonly state: "waiting" | "running" | "held" | "dead" | "over"
  /** The reason for which it is held, the code of its failure, or its closing status. */
  readonly note?: string
  /** The number of its next segment; of a run that is over, the number of its steps. */
  readonly segment: number
  /** The beat of its newest step, from which it waits. */
  readonly since: number
  /** The number of the attempt at its next segment. */
  readonly attempt?: number
  /** The cancellation that its next segment executes; `back` for a run that a rollback ends. */
  readonly cancel?: "await" | "now" | "back"
  /** Its open handles. A list leaves out those of a log over 16,384 characters. */
  readonly awaits?: ReadonlyArray<AwaitedRow>
}

/**
 * The open runs in the order of their ids, and then the dead ones. The cursor of the next page is `undefined` at the end.
 * A page may have fewer runs than were asked for.
 */
export interface RunPage {
  readonly runs: ReadonlyArray<RunRow>
  readonly next: string | undefined
}

/** One step of a run. */
export interface StepRow {
  readonly segment: number
  readonly beat: number
  /** The clock of that beat, in milliseconds since 1970. */
  readonly now: number
  /** The results with which the segment began: the number of the handle, and `ok` or the code of its failure. */
  readonly results: ReadonlyArray<string>
  /** The calls of the segment, without their results; at most 100. */
  readonly calls: ReadonlyArray<string>
  /** The number of all its calls. */
  readonly called: number
  /** The handles that were open at its end. */
  readonly on: ReadonlyArray<string>
}

/** A run with its newest 100 steps. */
export interface RunDetails extends RunRow {
  readonly begun: number
  readonly steps: ReadonlyArray<StepRow>
}

/**
 * The durable runs of a space. The next beat executes a command; the answer, with the number of that beat, follows once it
 * is durable.
 *
 * To follow a run, watch the cell of its operation, `/rt/ops/<oid>`.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceRuns {
  /**
   * The runs after a cursor, a page at a time: the open and the dead ones. With `all` they are all operations of runs, in the
   * order of their ids. A page costs its runs, however many are over.
   */
  readonly list: (page: PageRequest & { readonly all?: boolean | undefined }) => Effect.Effect<RunPage, ReadError>
  /** A run with its steps; `undefined` if it is unknown. */
  readonly get: (oid: string) => Effect.Effect<RunDetails | undefined, ReadError>
  /**
   * Cancels a run. Its open handles fail with `run/cancelled`, so that its body can undo its effects; results that are there
   * come first. With `now` the body makes no further call, and the handling becomes a dead letter at once.
   */
  readonly cancel: (oid: string, options?: { readonly now?: boolean | undefined }) => Effect.Effect<number, ControlError>
  /**
   * Sends the dead letter of a run again: it goes on from its log, and makes requests again that failed last. With `anew` it
   * starts over, and its requests have other idempotency keys.
   */
  readonly retry: (oid: string, options?: { readonly anew?: boolean | undefined }) => Effect.Effect<number, ControlError>
}
