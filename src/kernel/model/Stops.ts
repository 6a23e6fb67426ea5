/**
 * Stops: the spaces that stopped or could not be opened, and why.
 *
 * @module
 */
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { SpaceStopped } from "./SpaceError.ts"

/** A space that is not open although it was asked for. */
export interface Stop {
  readonly space: string
  /** Where its store is. */
  readonly store: string
  readonly code: string
  readonly reason: string
}

/**
 * The spaces of one kernel that stopped, until they open again.
 *
 * @category models
 * @since 0.1.0
 */
export class Stops {
  private readonly bySpace = new Map<string, Stop>()

  get all(): ReadonlyArray<Stop> {
    return [...this.bySpace.values()]
  }

  /** The space runs. */
  opened(space: string): void {
    this.bySpace.delete(space)
  }

  /** The space stopped by itself. */
  stopped({ code, reason, space }: SpaceStopped, store: string): void {
    this.bySpace.set(space, { space, store, code, reason })
  }

  /** The space could not be opened; one that is not there did not stop. */
  refused(space: string, error: unknown): void {
    if (!(error instanceof PersistenceError)) return
    const { code, message, reason } = error
    if ("place" in reason) this.bySpace.set(space, { space, store: reason.place, code, reason: message })
    else if (code === "space/unknown") this.bySpace.delete(space)
  }
}
