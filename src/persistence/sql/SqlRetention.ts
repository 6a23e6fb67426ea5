/**
 * Deletion of the rows of a SQL store that are older than the retention.
 *
 * @module
 */
import type { Group } from "../Backend.ts"
import type { IdempotencyIndex } from "./IdempotencyIndex.ts"
import type { LongTexts } from "./LongTexts.ts"
import type { Anchor } from "../Persistence.ts"
import { type Budget, cutoff, pastOf, type Pruning, tooOld } from "../Pruning.ts"
import type { SqlContent } from "./SqlContent.ts"
import type { Statements } from "./SqlSchema.ts"

/** The columns of a journal row that decide its retention. */
interface JournalAge {
  readonly beat: number
  readonly clock: number
  readonly size: number
  readonly hash: string
}

/** The columns of a receipt with a digest that decide its retention. */
interface CallerAge {
  readonly age: number
  readonly clock: number
  readonly size: number
}

/** The parts of a store from which rows are deleted. */
interface Parts {
  readonly sql: Statements
  readonly callers: IdempotencyIndex
  readonly content: SqlContent
  readonly texts: LongTexts
  readonly pruning: Pruning
}

/** The newest deleted journal row, and the characters of the deleted ones. */
interface Pruned {
  readonly anchor: Anchor
  readonly size: number
}

/** Deletes some of the rows older than the retention, but never the head's row. */
export const prune = (
  { callers, content, pruning, sql, texts }: Parts,
  { before: past, head: { beat, clock }, jumps }: Pick<Group, "before" | "head" | "jumps">,
  { anchor: before, budget, size }: Pruned & { readonly budget: Budget }
): Pruned => {
  const { contentMillis, journalBytes, journalMillis, receiptMillis } = pruning.retention
  const caller = tooOld((limit) => sql.oldestCallers.all(limit).map(([clock, size, age]) => ({ clock, size, age }) as CallerAge), {
    cutoff: cutoff(clock, receiptMillis, jumps),
    excess: 0,
    budget,
    sizeOf: (row) => row.size
  }).at(-1)
  if (caller !== undefined) callers.prune(caller.age)
  const oldest = (limit: number) =>
    sql.oldestJournal.all(beat, limit).map(([beat, clock, size, hash]) => ({ beat, clock, size, hash }) as JournalAge)
  const gone = tooOld(oldest, {
    cutoff: cutoff(clock, journalMillis, jumps),
    excess: size - journalBytes,
    budget,
    sizeOf: (row) => row.size,
    isPast: pastOf({ before: past })
  })
  const anchor = gone.at(-1) ?? before
  const collected = { clock: cutoff(clock, contentMillis, jumps) + contentMillis, millis: contentMillis, anchor: anchor.beat }
  if (content.collect({ ...collected, limit: budget.rows })) pruning.lookAgain()
  if (gone.length === 0) return { anchor, size: 0 }
  sql.pruneJournal.run(anchor.beat)
  for (const { beat } of gone) texts.drop("journal", beat)
  sql.pruneReceipts.run(anchor.beat)
  return { anchor, size: gone.reduce((sum, row) => sum + row.size, 0) }
}
