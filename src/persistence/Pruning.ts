/**
 * Pruning: gradual deletion of data older than the retention.
 *
 * A store looks for old rows only after it wrote some, and then deletes at most twice as many. So the stored data
 * shrinks to its limit, and no flush stalls.
 *
 * @module
 */
import type { Group } from "./Backend.ts"
import type { JournalRow, Jump, Retention } from "./Persistence.ts"

/** The number of rows, or characters of journal text, written between two checks for old data. */
const ROWS = 256
const SIZE = 1_048_576

/** The most times of both that count for one deletion. */
const MOST = 16

/** The maximum amount to delete at once. */
export interface Budget {
  readonly rows: number
  readonly size: number
}

/**
 * Computes a budget after each group; most groups have none.
 *
 * @category models
 * @since 0.1.0
 */
export class Pruning {
  readonly retention: Retention
  private rows: number
  private size = 0
  /** Whether nothing is pruned for now. */
  isPinned = false

  /** A store that was there before may have old data, so its first group has a budget. */
  constructor(retention: Retention, isNew = false) {
    this.retention = retention
    this.rows = isNew ? 0 : ROWS
  }

  /** Returns and spends the budget after `group`. */
  budget(group: Group): Budget | undefined {
    this.rows += group.journal.length + group.receipts.size + group.blobs.size
    for (const row of group.journal) this.size += sizeOf(row)
    if (group.before !== undefined) this.rows = Math.max(this.rows, MOST * ROWS)
    if (this.isPinned || (this.rows < ROWS && this.size < SIZE)) return undefined
    // After a pin, old rows go in several steps.
    const within = (written: number, least: number): number => 2 * Math.min(Math.max(written, least), MOST * least)
    const budget = { rows: within(this.rows, ROWS), size: within(this.size, SIZE) }
    this.rows = 0
    this.size = 0
    return budget
  }

  /** Gives the next group a budget, too, because old data is left. */
  lookAgain(): void {
    this.rows = ROWS
  }
}

/**
 * The clock before which data is older than `millis` at a clock. A jump of the clock after the data does not count.
 *
 * @category getters
 * @since 0.1.0
 */
export const cutoff = (clock: number, millis: number, jumps: ReadonlyArray<Jump>): number =>
  jumps.reduceRight((before, jump) => before < jump.clock ? before - jump.millis : before, clock - millis)

/**
 * Tells the journal rows that a group removes whatever their age.
 *
 * @category getters
 * @since 0.2.0
 */
export const pastOf = ({ before = -1 }: Pick<Group, "before">) => ({ beat }: Pick<JournalRow, "beat">): boolean => beat < before

/**
 * The size of a journal row for the retention, in characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const sizeOf = (row: JournalRow): number => row.text.length

/**
 * Returns how many of the oldest rows to delete, within the budget: rows before `cutoff`, those that `isPast` names, and more while the
 * total size exceeds its limit.
 *
 * @category getters
 * @since 0.1.0
 */
export const expired = <Row extends { readonly clock: number }>(
  oldest: ReadonlyArray<Row>,
  bounds: {
    readonly cutoff: number
    readonly excess: number
    readonly budget: Budget
    readonly sizeOf: (row: Row) => number
    readonly isPast?: (row: Row) => boolean
  }
): number => {
  const { budget, cutoff, excess, isPast = () => false } = bounds
  let gone = 0
  let count = 0
  for (; count < budget.rows && gone < budget.size; count++) {
    const row = oldest[count]
    if (row === undefined || (row.clock >= cutoff && excess <= gone && !isPast(row))) break
    gone += bounds.sizeOf(row)
  }
  return count
}

/**
 * The rows to delete, from pages of the oldest rows. Usually the first row is retained, and therefore all others.
 *
 * @category getters
 * @since 0.1.0
 */
export const tooOld = <Row extends { readonly clock: number }>(
  oldest: (limit: number) => ReadonlyArray<Row>,
  bounds: Parameters<typeof expired<Row>>[1]
): ReadonlyArray<Row> => {
  if (expired(oldest(1), bounds) === 0) return []
  const rows = oldest(bounds.budget.rows)
  return rows.slice(0, expired(rows, bounds))
}
