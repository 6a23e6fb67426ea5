/**
 * The open durable runs of a space, as reads of runs see them.
 *
 * @module
 */
import type { LiveState } from "../beat/loop/LiveState.ts"

/** The members of the state of a space that this view uses. */
type State = Pick<LiveState, "clock" | "inbox" | "mode" | "runs">

/**
 * The durable runs of one space that are not over, by the ids of their operations.
 */
export class OpenRuns {
  private readonly state: State

  constructor(state: State) {
    this.state = state
  }

  /** The open runs after one of them, in the order of their ids. No cell is read. */
  after(oid: string | undefined, limit: number): ReadonlyArray<string> {
    return this.state.inbox.runs.after(oid, limit)
  }

  /** Whether a run waits for a result. */
  isWaiting(oid: string): boolean {
    return this.state.inbox.runs.has(oid)
  }

  /** Drops the bodies in memory. Each is made again from its log. */
  forget(): void {
    this.state.runs.forget()
  }

  /** Whether a row of a run is held, since the code of the run is missing. */
  isHeld(seq: number): boolean {
    return this.state.inbox.held.has(seq)
  }

  /** Whether no run continues, since the space is paused or halted. */
  get isPaused(): boolean {
    return this.state.mode.gated
  }

  /** The milliseconds by which the clock of the space is ahead of its dates. */
  get shifted(): number {
    return this.state.clock.shifted
  }
}
