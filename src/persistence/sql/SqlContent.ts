/**
 * Content references and content collection in a SQL store.
 *
 * @module
 */
import { BloomFilter } from "./BloomFilter.ts"
import * as ContentReferences from "../ContentReferences.ts"
import type { JournalRow } from "../Persistence.ts"
import type { SqlStatement } from "./SqlDriver.ts"
import { numberOf, type Statements } from "./SqlSchema.ts"

/** A table of texts with increasing numbers. */
interface Texts {
  /** Selects the span of the numbers. */
  readonly span: SqlStatement
  /** Selects a page of numbers and texts. */
  readonly after: SqlStatement
  /** Whether the table was just created. */
  readonly isNew: boolean
}

/**
 * The filter of a table's texts.
 */
export const filterOf = ({ after, isNew, span }: Texts): BloomFilter => {
  // The span of an empty table is null. A new table is empty when its filter begins; a larger filter reads it.
  let [isEmpty, isUnread] = [isNew, isNew]
  const page = (number: number, limit: number) => after.all(number, limit) as unknown as ReadonlyArray<readonly [number, string]>
  const filter = new BloomFilter({
    size: () => {
      if (isUnread) return 0
      const size = (span.get()?.[0] ?? null) as number | null
      isEmpty = size === null
      return size ?? 0
    },
    page: (number, limit) => isEmpty ? [] : page(number, limit)
  })
  isUnread = false
  return filter
}

/**
 * Records references and collects content, as part of a group's transaction.
 */
export class SqlContent {
  private readonly sql: Statements
  /** The holders of references; most written keys never held one. */
  private readonly holders: BloomFilter
  /** Whether there may be content that arrived before the newest beat was appended. */
  private undated = true

  constructor(sql: Statements, isNew: boolean) {
    this.sql = sql
    this.holders = filterOf({ span: sql.mentionSpan, after: sql.mentionsAfter, isNew })
  }

  /** Takes note that content arrived. */
  came(): void {
    this.undated = true
  }

  /** Replaces the references of a document or a queued signal; `undefined` removes them. */
  hold(holder: string, text: string | undefined): void {
    if (this.holders.mayHave(holder)) this.sql.dropMentions.run(holder)
    const hashes = text === undefined ? [] : ContentReferences.of(text)
    if (hashes.length === 0) return
    for (const hash of hashes) this.sql.addMention.run(holder, hash)
    this.holders.add([holder])
  }

  /** Dates content by the beats of a group: content that arrived until now, and content to which their rows refer. */
  date(journal: ReadonlyArray<JournalRow>, due: number): void {
    this.holders.add([])
    if (journal.length === 0) return
    if (this.undated) this.sql.dateBlobs.run(due)
    this.undated = false
    for (const { beat, text } of journal) for (const hash of ContentReferences.of(text)) this.sql.keepBlob.run(beat, hash)
  }

  /** Checks the content that is due and drops unreferenced content. Returns whether more content is due. */
  collect({ anchor, clock, limit, millis }: ContentReferences.Collection): boolean {
    let parts = 0
    for (const row of this.sql.dueBlobs.all(clock, limit)) {
      const [hash, epoch, upload, beat] = row as unknown as readonly [string, number, number, number]
      if (beat > anchor || this.sql.mentioned.get(hash) !== undefined) {
        this.sql.putOff.run(clock + millis, hash)
        continue
      }
      if (parts >= ContentReferences.MOST_PARTS) return true
      parts += numberOf(this.sql.countParts.get(epoch, upload))
      this.sql.dropParts.run(epoch, upload)
      this.sql.dropBlob.run(hash)
    }
    return false
  }
}
