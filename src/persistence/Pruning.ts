/**
 * Pruning: letting go of what is older than the retention, a little at a time.
 *
 * A store looks for old rows only after it wrote some, and then lets go of at
 * most twice as much: what is kept shrinks to its limit, and no flush stalls
 * over it.
 *
 * @module
 */
import type { Group } from "./Backend.ts"
import type { JournalRow, Retention } from "./Persistence.ts"

/** Rows, or characters of journal text, that are written between two looks at what is too old. */
const ROWS = 256
const SIZE = 1_048_576

/** How much may go at once. */
export interface Budget {
  readonly rows: number
  readonly size: number
}

/**
 * Says after each group how much may go: mostly nothing.
 *
 * @category models
 * @since 0.1.0
 */
export class Pruning {
  readonly retention: Retention
  private rows = ROWS
  private size = 0

  constructor(retention: Retention) {
    this.retention = retention
  }

  /** What may go after `group`. To ask for a budget is to spend it. */
  budget(group: Group): Budget | undefined {
    this.rows += group.journal.length + group.receipts.size + group.blobs.size
    for (const row of group.journal) this.size += sizeOf(row)
    if (this.rows < ROWS && this.size < SIZE) return undefined
    const budget = { rows: 2 * Math.max(this.rows, ROWS), size: 2 * Math.max(this.size, SIZE) }
    this.rows = 0
    this.size = 0
    return budget
  }

  /** There was more to let go of than goes at once: the next group has a budget, too. */
  lookAgain(): void {
    this.rows = ROWS
  }
}

/**
 * By how much a journal row counts against the retention.
 *
 * @category getters
 * @since 0.1.0
 */
export const sizeOf = (row: JournalRow): number => row.text.length

/**
 * How many of the oldest rows are to go: those from before `cutoff`, and as
 * many more as the whole is in excess, as far as the budget reaches.
 *
 * @category getters
 * @since 0.1.0
 */
export const expired = <Row extends { readonly clock: number }>(
  oldest: ReadonlyArray<Row>,
  bounds: { readonly cutoff: number; readonly excess: number; readonly budget: Budget; readonly sizeOf: (row: Row) => number }
): number => {
  const { budget, cutoff, excess } = bounds
  let gone = 0
  let count = 0
  for (; count < budget.rows && gone < budget.size; count++) {
    const row = oldest[count]
    if (row === undefined || (row.clock >= cutoff && excess <= gone)) break
    gone += bounds.sizeOf(row)
  }
  return count
}
