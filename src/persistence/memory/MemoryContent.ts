/**
 * Content in memory, its references and its collection.
 *
 * @module
 */
import { PART } from "../Backend.ts"
import * as ContentReferences from "../ContentReferences.ts"
import type { JournalRow } from "../Persistence.ts"

interface Blob {
  readonly bytes: Uint8Array
  readonly code: boolean
  /** The newest beat with a journal row that refers to it. */
  beat: number
}

/**
 * Content by its digest.
 */
export class MemoryContent {
  private readonly blobs = new Map<string, Blob>()
  /** Content that arrived before the newest beat was appended. */
  private readonly undated = new Set<string>()
  /** The time of the next check of each content, in order. */
  private readonly due = new Map<string, number>()
  /** The contents to which each document and signal refers, and the reference count of each content. */
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

  /** Returns content that arrived after the newest beat and has no reference in an earlier one. */
  fresh(): ReadonlyArray<string> {
    return [...this.undated].filter((hash) => this.blobs.get(hash)?.beat === -1)
  }

  /** Adds content, or renews it if it is already stored. */
  put(hash: string, bytes: () => Uint8Array, code: boolean): void {
    if (!this.blobs.has(hash)) this.blobs.set(hash, { bytes: bytes(), code, beat: -1 })
    this.due.delete(hash)
    this.undated.add(hash)
  }

  /** Replaces the references of a document or a queued signal; `undefined` removes them. */
  hold(holder: string, text: string | undefined): void {
    for (const hash of this.mentions.get(holder) ?? []) this.count(hash, -1)
    const hashes = text === undefined ? [] : ContentReferences.of(text)
    if (hashes.length === 0) this.mentions.delete(holder)
    else this.mentions.set(holder, hashes)
    for (const hash of hashes) this.count(hash, 1)
  }

  /** Dates content by the beats of a group: content that arrived until now, and content to which their rows refer. */
  date(journal: ReadonlyArray<JournalRow>, due: number): void {
    if (journal.length === 0) return
    for (const hash of this.undated) this.due.set(hash, due)
    this.undated.clear()
    for (const { beat, text } of journal) {
      for (const hash of ContentReferences.of(text)) {
        const blob = this.blobs.get(hash)
        if (blob !== undefined) blob.beat = beat
      }
    }
  }

  /** Checks the content that is due and drops unreferenced content. Returns whether more content is due. */
  collect({ anchor, clock, limit, millis }: ContentReferences.Collection): boolean {
    let parts = 0
    let left = limit
    for (const [hash, due] of this.due) {
      if (due > clock || left-- === 0) return false
      const { beat, bytes } = this.blobs.get(hash)!
      if (beat <= anchor && !this.counts.has(hash)) {
        if (parts >= ContentReferences.MOST_PARTS) return true
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
