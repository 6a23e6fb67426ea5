/**
 * The historic store: the state of a space before a beat, for an export and for a replay, which then lays the state that it makes over it.
 *
 * The journal holds the previous version of each changed document. The state before beat N is therefore the present
 * with the changes from N on undone. The changes of the replay are laid over it; the space itself is not modified.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import type { HistorySource } from "../beat/HistorySource.ts"
import * as Journal from "../journal/Journal.ts"
import { partOf } from "../../persistence/Backend.ts"
import type { Anchor, Batch, BlobPart, BlobWriter, Head, JournalRow, SpaceStore } from "../../persistence/Persistence.ts"
import { PastTexts } from "./PastTexts.ts"

/**
 * A store with `from` as its next beat.
 */
export class HistoricStore implements SpaceStore {
  readonly epoch: number
  readonly place: string
  /** The row that the newest step of the replay made. */
  made: JournalRow | undefined
  /** Content that a run requested and that is gone, even in the present. */
  absent: string | undefined
  private readonly source: HistorySource["store"]
  /** The documents that differ from the present. */
  readonly past: PastTexts
  private newest: Head
  /** The content that the recorded entry of the next beat names as made. */
  private recorded: ReadonlySet<string> = new Set()

  /** Creates the store of a space as it was before a beat. */
  static async before(history: HistorySource, from: number): Promise<HistoricStore> {
    const historic = new HistoricStore(history.store, { from, limit: history.settings.limits.pastBytes })
    await historic.past.takeBack(history)
    return historic
  }

  /** Creates the store of the present, which stays as it is while the space goes on. `limit` is in characters. */
  static present(source: HistorySource["store"], limit: number): HistoricStore {
    return new HistoricStore(source, { from: source.head().beat + 1, limit })
  }

  private constructor(source: HistorySource["store"], { from, limit }: { readonly from: number; readonly limit: number }) {
    this.epoch = source.epoch
    this.place = source.place
    this.source = source
    this.past = new PastTexts(source, { from, limit })
    this.newest = before(source, from)
  }

  /** Its name in the next beat: an import gives a space another one. */
  get space(): string {
    this.past.catchUp()
    return this.past.nameIn(this.newest.beat + 1)
  }

  head(): Head {
    return this.newest
  }

  /** A replay stores no row of a signal. */
  format(): undefined {
    return undefined
  }

  readonly raise: SpaceStore["raise"] = () => Effect.void

  anchor(): Anchor {
    return this.source.anchor()
  }

  read(key: string): string | undefined {
    this.past.catchUp()
    return this.past.texts.has(key) ? this.past.texts.get(key) : this.source.read(key)
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    this.past.catchUp()
    const names = new Set(this.source.children(scope, id))
    const folder = Address.child(id, "")
    for (const [key, text] of this.past.texts) {
      // Most documents are elsewhere, and this test costs less than parsing an address.
      if (!key.startsWith(folder)) continue
      const address = Address.ofKey(key)
      if (address.scope !== scope || Address.parent(address.id) !== id) continue
      if (text === undefined) names.delete(Address.name(address.id))
      else names.add(Address.name(address.id))
    }
    return [...names].sort()
  }

  below(id: string, page: { readonly after?: string; readonly limit: number }): ReadonlyArray<string> {
    this.past.catchUp()
    const keys: Array<string> = []
    const isGone = (key: string): boolean => this.past.texts.has(key) && this.past.texts.get(key) === undefined
    let end: string | undefined
    for (let after = page.after; ;) {
      const more = this.source.below(id, after === undefined ? { limit: page.limit } : { after, limit: page.limit })
      keys.push(...more.filter((key) => !isGone(key)))
      after = more.at(-1)
      if (more.length < page.limit) break
      end = after
      if (keys.length >= page.limit) break
      end = undefined
    }
    const folder = Address.child(id, "")
    const isHere = (key: string): boolean => key.startsWith(folder) && (page.after === undefined || key > page.after)
    for (const [key, text] of this.past.texts) if (text !== undefined && isHere(key) && (end === undefined || key <= end)) keys.push(key)
    return [...new Set(keys)].sort().slice(0, page.limit)
  }

  blob(hash: string): Uint8Array | undefined {
    this.past.catchUp()
    if (this.past.unseen.has(hash)) return undefined
    const bytes = this.source.blob(hash)
    if (bytes === undefined) this.absent = `/cas/${hash}`
    return bytes
  }

  blobPart(hash: string, part: number): BlobPart | undefined {
    const bytes = this.blob(hash)
    return bytes && partOf(bytes, part)
  }

  /** Readers use the present only. */
  isCode(): boolean {
    return false
  }

  /**
   * Whether content that the next beat makes was there before. Content comes and goes, and no entry tells that it went, so the
   * recorded entry of that beat decides: it names the content that was not there.
   */
  holds(hash: string): boolean {
    return !this.recorded.has(hash)
  }

  undated(): [] {
    return []
  }

  /** Prepares the beat of a recorded entry. The content that it captured is visible to runs from now on. */
  load({ content = [], made = [] }: Pick<Journal.Entry, "content" | "made">): void {
    this.past.see(content)
    this.recorded = new Set(made)
  }

  /** A replay has no wake time. */
  setDue(): void {}

  /** A replay removes nothing. */
  setJumps(): void {}

  append({ blobs, cells, entry }: Batch): void {
    if (entry === undefined) return
    this.past.see(blobs.map(({ hash }) => hash))
    for (const { address, text } of cells) this.past.keep(address.key, text)
    this.newest = { beat: entry.beat, clock: entry.clock, hash: entry.hash }
    this.past.next = entry.beat + 1
    this.made = entry
  }

  readonly flush = Effect.void

  entry(beat: number): JournalRow | undefined {
    return this.source.entry(beat)
  }

  scanJournal(from: number, to: number): Iterable<JournalRow> {
    return this.source.scanJournal(from, to)
  }

  receipts(): [] {
    return []
  }

  named(): [] {
    return []
  }

  queue(): [] {
    return []
  }

  queued(): [] {
    return []
  }

  waiting(): [] {
    return []
  }

  observations(): [] {
    return []
  }

  examine(): [] {
    return []
  }

  writeBlob(): BlobWriter {
    throw new Error("content is not written in the past")
  }
}

/** Returns the head before a beat. */
const before = (source: HistorySource["store"], from: number): Head => {
  const head = source.head()
  // The beat itself may have been empty or pruned, so the first row from there on counts.
  for (const row of source.scanJournal(from, head.beat)) return { beat: from - 1, clock: 0, hash: Journal.parse(row.text).prev }
  return { ...head, beat: from - 1 }
}
