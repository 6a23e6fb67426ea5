/**
 * Stops: the spaces that stopped or failed to open, with the reasons.
 *
 * @module
 */
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { SpaceStopped } from "./SpaceError.ts"

/** A space that is not open although it was requested. */
export interface Stop {
  readonly space: string
  /** The location of its store. */
  readonly store: string
  readonly code: string
  readonly reason: string
}

/**
 * The stopped spaces of one kernel, until they open again.
 */
export class Stops {
  private readonly bySpace = new Map<string, Stop>()

  get all(): ReadonlyArray<Stop> {
    return [...this.bySpace.values()]
  }

  /** Removes an opened space. */
  opened(space: string): void {
    this.bySpace.delete(space)
  }

  /** Adds a space that stopped by itself. */
  stopped({ code, reason, space }: SpaceStopped, store: string): void {
    this.bySpace.set(space, { space, store, code, reason })
  }

  /** Adds a space that failed to open, unless it does not exist. */
  refused(space: string, error: unknown): void {
    if (!(error instanceof PersistenceError)) return
    const { code, message, reason } = error
    if ("place" in reason) this.bySpace.set(space, { space, store: reason.place, code, reason: message })
    else if (code === "space/unknown") this.bySpace.delete(space)
  }
}
