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
import type { HistorySource } from "./HistorySource.ts"
import * as Journal from "../journal/Journal.ts"
import { partOf } from "../../persistence/Backend.ts"
import type { Anchor, Batch, BlobPart, BlobWriter, Head, JournalRow, SpaceStore } from "../../persistence/Persistence.ts"
import { cellsOf } from "../journal/JournalRecords.ts"
import { NotReplayable } from "./NotReplayable.ts"

/**
 * A store with `from` as its next beat.
 */
export class HistoricStore implements SpaceStore {
  readonly space: string
  readonly epoch: number
  readonly place: string
  /** The row that the newest step of the replay made. */
  made: JournalRow | undefined
  /** Content that a run requested and that is gone, even in the present. */
  absent: string | undefined
  private readonly source: HistorySource["store"]
  private readonly limit: number
  /** Documents that differ from the present: first in their historic version, later as the replay wrote them. */
  private readonly texts = new Map<string, string | undefined>()
  /** The number of characters of these documents. */
  private size = 0
  /** Content that no beat had captured or made yet. */
  private readonly unseen = new Set<string>()
  private newest: Head
  /** The content that the recorded entry of the next beat names as made. */
  private recorded: ReadonlySet<string> = new Set()
  /** The beat down to which the present is undone. */
  private undone: number
  /** The documents up to this key are not read any more. */
  private passed = ""

  /** Creates the store of a space as it was before a beat. */
  static async before(history: HistorySource, from: number): Promise<HistoricStore> {
    const historic = new HistoricStore(history.store, { from, limit: history.settings.limits.pastBytes })
    await historic.takeBack(history)
    return historic
  }

  /** Creates the store of the present, which stays as it is while the space goes on. `limit` is in characters. */
  static present(source: HistorySource["store"], limit: number): HistoricStore {
    return new HistoricStore(source, { from: source.head().beat + 1, limit })
  }

  private constructor(source: HistorySource["store"], { from, limit }: { readonly from: number; readonly limit: number }) {
    this.space = source.space
    this.epoch = source.epoch
    this.place = source.place
    this.source = source
    this.limit = limit
    this.undone = from - 1
    this.newest = before(source, from)
  }

  /** Undoes the changes of the space, alternating with its new beats. The turns become fewer, so that the loop ends. */
  async takeBack({ rest }: Pick<HistorySource, "rest">): Promise<void> {
    for (let share = 1; this.undone < this.source.head().beat; share *= 2) {
      let taken = 0
      for (const row of this.since()) {
        this.undo(row)
        if (++taken % share !== 0) continue
        const pause = rest()
        if (pause !== undefined) await pause
      }
    }
  }

  /** Undoes the beats that the space ran while a replayed run waited. */
  private catchUp(): void {
    if (this.undone < this.source.head().beat) for (const row of this.since()) this.undo(row)
  }

  private *since(): Iterable<JournalRow> {
    const { beat } = this.source.head()
    this.checkKept()
    yield* this.source.scanJournal(this.undone + 1, beat)
    this.undone = beat
  }

  /** Checks that the journal still has all beats that are not undone yet. */
  private checkKept(): void {
    const { beat } = this.source.anchor()
    if (beat <= this.undone) return
    const reason = `the journal is pruned up to beat ${beat}. Begin with a later one`
    throw new NotReplayable({ beat: this.undone + 1, code: "replay/pruned", reason })
  }

  private undo(row: JournalRow): void {
    this.checkKept()
    const entry = Journal.parse(row.text)
    for (const { before, key } of cellsOf(entry)) {
      if (key > this.passed && !this.texts.has(key)) this.keep(key, before === undefined ? undefined : JSON.stringify(before))
    }
    for (const hash of [...entry.content ?? [], ...entry.made ?? []]) this.unseen.add(hash)
    this.undone = row.beat
  }

  /** Forgets the documents up to a key, which are not read any more. */
  pass(key: string): void {
    this.passed = key
    if (this.size < this.limit / 2) return
    for (const [kept, text] of this.texts) {
      if (kept > key) continue
      this.size -= kept.length + (text?.length ?? 0)
      this.texts.delete(kept)
    }
  }

  /** The characters of the documents that differ from the present. */
  get held(): number {
    return this.size
  }

  private keep(key: string, text: string | undefined): void {
    this.size += key.length + (text?.length ?? 0) - (this.texts.get(key)?.length ?? 0)
    this.texts.set(key, text)
    if (this.size <= this.limit) return
    const changed = `more than ${this.limit} characters of documents changed since`
    const reason = `${changed}. Begin with a later beat, or raise the limit pastBytes`
    throw new NotReplayable({ beat: this.newest.beat + 1, code: "replay/size", reason })
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
    this.catchUp()
    return this.texts.has(key) ? this.texts.get(key) : this.source.read(key)
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    this.catchUp()
    const names = new Set(this.source.children(scope, id))
    const folder = Address.child(id, "")
    for (const [key, text] of this.texts) {
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
    this.catchUp()
    const keys: Array<string> = []
    const isGone = (key: string): boolean => this.texts.has(key) && this.texts.get(key) === undefined
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
    for (const [key, text] of this.texts) if (text !== undefined && isHere(key) && (end === undefined || key <= end)) keys.push(key)
    return [...new Set(keys)].sort().slice(0, page.limit)
  }

  blob(hash: string): Uint8Array | undefined {
    this.catchUp()
    if (this.unseen.has(hash)) return undefined
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
  load({ content = [], made = [] }: Pick<Journal.Parsed, "content" | "made">): void {
    this.see(content)
    this.recorded = new Set(made)
  }

  private see(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) this.unseen.delete(hash)
  }

  /** A replay has no wake time. */
  setDue(): void {}

  /** A replay removes nothing. */
  setJumps(): void {}

  append({ blobs, cells, entry }: Batch): void {
    if (entry === undefined) return
    this.see(blobs.map(({ hash }) => hash))
    for (const { address, text } of cells) this.keep(address.key, text)
    this.newest = { beat: entry.beat, clock: entry.clock, hash: entry.hash }
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
