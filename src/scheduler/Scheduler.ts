/**
 * The scheduler as a service: makes the graph of each space that opens.
 *
 * A layer chooses the budgets of the runs and the idempotency check; the spaces
 * take the graphs as they come. The service is asked when the graph of a space
 * is made, and never on a read.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { type Budgets, defaultBudgets } from "./definition/Budgets.ts"
import { ActiveRun } from "./run/Environment.ts"
import * as Idempotency from "./Idempotency.ts"
import type { BaseState } from "./graph/Locations.ts"
import { SpaceScheduler } from "./SpaceScheduler.ts"

/** The choices of a layer. */
export interface Options {
  /** Replaces the budgets named here. */
  readonly budgets?: Partial<Budgets>
  /**
   * Runs each computation and materializer a second time, aside, and reports a node with a different second run. Runs of
   * nodes take twice as long. Default: `false`.
   */
  readonly check?: boolean
}

/**
 * Makes the graphs of spaces.
 *
 * @example Two runs of a node in one pass, and the idempotency check
 * ```ts
 * import { Scheduler } from "systole"
 *
 * const layer = Scheduler.layer({ budgets: { passRuns: 2 }, check: true })
 * if (layer === undefined) throw new Error("no layer")
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class Scheduler extends Context.Service<Scheduler, {
  /**
   * A graph over the documents of `base`. With a layer that checks, `unstable` reports each node with a different second run.
   */
  readonly make: (base: BaseState, unstable?: Idempotency.Unstable) => SpaceScheduler
}>()("systole/scheduler/Scheduler") {
  static readonly layer = ({ budgets, check = false }: Options = {}): Layer.Layer<Scheduler> => {
    const chosen = { ...defaultBudgets, ...budgets }
    const active = new ActiveRun()
    return Layer.succeed(Scheduler, {
      make: (base, unstable) => {
        const scheduler = new SpaceScheduler(base, chosen, active)
        if (check && unstable !== undefined) scheduler.observe(Idempotency.checker(scheduler, base, unstable))
        return scheduler
      }
    })
  }
}
