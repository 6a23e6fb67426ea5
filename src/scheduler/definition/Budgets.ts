/**
 * Budgets: the bounds of the runs of one graph.
 *
 * @module
 */

/**
 * The bounds of a node's runs. A replay takes the runs from the journal and needs none of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Budgets {
  /** Most runs of a node in one pass, from 1. A node that needs more backs off. */
  readonly passRuns: number
  /** Attempts of a run that fails with `Retry`, from 1. */
  readonly attempts: number
  /** First backoff of a restless node or a retried run, in milliseconds, from 1. Each in a row doubles it. */
  readonly backoffBase: number
  /** Longest backoff, in milliseconds. */
  readonly backoffMax: number
}

/**
 * The budgets of a graph by default.
 */
export const defaultBudgets: Budgets = { passRuns: 10, attempts: 10, backoffBase: 250, backoffMax: 2000 }
