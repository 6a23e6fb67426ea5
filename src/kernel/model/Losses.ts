/**
 * Losses: the beats that the spaces of a kernel lost when they stopped.
 *
 * A space that stops may have run beats that are not durable. Only this process knows of
 * them: the failed store cannot be written, and nothing is left if the process ends, too.
 * The first beat after the recovery takes the loss from here and journals it.
 *
 * @module
 */

/** The topics of a loss. */
export type LossTopic = "persist.async.tmo" | "persist.flush.fail"

/** The failure of a flush, and the newest beat that the space had run by then. */
export interface Loss {
  readonly topic: LossTopic
  /** The code of the failure. */
  readonly code: string
  readonly newest: number
}

/**
 * The losses of one kernel, by space, until a beat that journals them is durable.
 */
export class Losses {
  private readonly bySpace = new Map<string, Loss>()

  of(space: string): Loss | undefined {
    return this.bySpace.get(space)
  }

  /** Adds a loss, if there is one. A space that stops again before it has journaled the previous one keeps the newer failure. */
  add(space: string, loss: Loss | undefined): void {
    if (loss !== undefined) this.bySpace.set(space, { ...loss, newest: Math.max(loss.newest, this.newest(space)) })
  }

  /** Removes the loss of a space, which is journaled durably or was removed with its space. */
  journaled(space: string): void {
    this.bySpace.delete(space)
  }

  /** The newest lost beat of a space; -1 if it lost none. */
  newest(space: string): number {
    return this.bySpace.get(space)?.newest ?? -1
  }
}
