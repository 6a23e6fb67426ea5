/**
 * What holds content in a SQL store, and what is let go of.
 *
 * @module
 */
import { IdFilter } from "./IdFilter.ts"
import * as Mention from "./Mention.ts"
import type { JournalRow } from "./Persistence.ts"
import type { Statements } from "./SqlSchema.ts"

/**
 * Notes mentions, and collects. All of it is part of a group's transaction.
 *
 * @category models
 * @since 0.1.0
 */
export class SqlContent {
  private readonly sql: Statements
  /** Who mentions anything: most that is written never did. */
  private readonly holders: IdFilter
  /** Whether there may be content from before the newest beat. */
  private undated = true

  constructor(sql: Statements) {
    this.sql = sql
    this.holders = new IdFilter({
      size: () => (sql.mentionSpan.get()?.[0] ?? 0) as number,
      page: (number, limit) => sql.mentionsAfter.all(number, limit) as unknown as ReadonlyArray<readonly [number, string]>
    })
  }

  /** Content came, or came once more. */
  came(): void {
    this.undated = true
  }

  /** A document or a signal that waits has this text now, or is gone. */
  hold(holder: string, text: string | undefined): void {
    if (this.holders.mayHave(holder)) this.sql.dropMentions.run(holder)
    const hashes = text === undefined ? [] : Mention.of(text)
    if (hashes.length === 0) return
    for (const hash of hashes) this.sql.addMention.run(holder, hash)
    this.holders.add([holder])
  }

  /** The beats of a group are written: what came until now is as old as they are, and what they mention is kept as long as they. */
  date(journal: ReadonlyArray<JournalRow>, due: number): void {
    this.holders.add([])
    if (journal.length === 0) return
    if (this.undated) this.sql.dateBlobs.run(due)
    this.undated = false
    for (const { beat, text } of journal) for (const hash of Mention.of(text)) this.sql.keepBlob.run(beat, hash)
  }

  /** Looks at what is due, and drops what nothing holds; answers whether more is left to drop. */
  collect({ anchor, clock, limit, millis }: Mention.Collection): boolean {
    let parts = 0
    for (const [hash, epoch, upload, beat] of this.sql.dueBlobs.all(clock, limit)) {
      if ((beat as number) > anchor || this.sql.mentioned.get(hash!) !== undefined) {
        this.sql.putOff.run(clock + millis, hash!)
        continue
      }
      if (parts >= Mention.MOST_PARTS) return true
      parts += this.sql.countParts.get(epoch!, upload!)![0] as number
      this.sql.dropParts.run(epoch!, upload!)
      this.sql.dropBlob.run(hash!)
    }
    return false
  }
}
