/**
 * Content in memory, what holds it, and what is let go of.
 *
 * @module
 */
import { PART } from "./Backend.ts"
import * as Mention from "./Mention.ts"
import type { JournalRow } from "./Persistence.ts"

interface Blob {
  readonly bytes: Uint8Array
  readonly code: boolean
  /** The newest beat whose journal row mentions it. */
  beat: number
}

/**
 * Content by its digest.
 *
 * @category models
 * @since 0.1.0
 */
export class MemoryContent {
  private readonly blobs = new Map<string, Blob>()
  /** Content from before the newest beat. */
  private readonly undated = new Set<string>()
  /** When each is to be looked at, the next one first. */
  private readonly due = new Map<string, number>()
  /** What each document and signal mentions, and how many mention each. */
  private readonly mentions = new Map<string, ReadonlyArray<string>>()
  private readonly counts = new Map<string, number>()

  get(hash: string): Uint8Array | undefined {
    return this.blobs.get(hash)?.bytes
  }

  has(hash: string): boolean {
    return this.blobs.has(hash)
  }

  isCode(hash: string): boolean {
    return this.blobs.get(hash)?.code === true
  }

  /** What came after the newest beat, and is named by none before. */
  fresh(): ReadonlyArray<string> {
    return [...this.undated].filter((hash) => this.blobs.get(hash)?.beat === -1)
  }

  /** Content came, or came once more. */
  put(hash: string, bytes: () => Uint8Array, code: boolean): void {
    if (!this.blobs.has(hash)) this.blobs.set(hash, { bytes: bytes(), code, beat: -1 })
    this.due.delete(hash)
    this.undated.add(hash)
  }

  /** A document or a signal that waits has this text now, or is gone. */
  hold(holder: string, text: string | undefined): void {
    for (const hash of this.mentions.get(holder) ?? []) this.count(hash, -1)
    const hashes = text === undefined ? [] : Mention.of(text)
    if (hashes.length === 0) this.mentions.delete(holder)
    else this.mentions.set(holder, hashes)
    for (const hash of hashes) this.count(hash, 1)
  }

  /** The beats of a group are written: what came until now is as old as they are, and what they mention is kept as long as they. */
  date(journal: ReadonlyArray<JournalRow>, due: number): void {
    if (journal.length === 0) return
    for (const hash of this.undated) this.due.set(hash, due)
    this.undated.clear()
    for (const { beat, text } of journal) {
      for (const hash of Mention.of(text)) {
        const blob = this.blobs.get(hash)
        if (blob !== undefined) blob.beat = beat
      }
    }
  }

  /** Looks at what is due, and drops what nothing holds; answers whether more is left to drop. */
  collect({ anchor, clock, limit, millis }: Mention.Collection): boolean {
    let parts = 0
    let left = limit
    for (const [hash, due] of this.due) {
      if (due > clock || left-- === 0) return false
      const { beat, bytes } = this.blobs.get(hash)!
      if (beat <= anchor && !this.counts.has(hash)) {
        if (parts >= Mention.MOST_PARTS) return true
        parts += Math.ceil(bytes.length / PART)
        this.blobs.delete(hash)
        this.due.delete(hash)
      } else {
        this.due.delete(hash)
        this.due.set(hash, clock + millis)
      }
    }
    return false
  }

  private count(hash: string, by: 1 | -1): void {
    const count = (this.counts.get(hash) ?? 0) + by
    if (count === 0) this.counts.delete(hash)
    else this.counts.set(hash, count)
  }
}
