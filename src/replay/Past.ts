/**
 * The past of a space: its state as it was before a beat, and from there as a
 * replay makes it.
 *
 * The journal holds what each document was before it changed, so the state
 * before beat N is the present with the changes from N on taken back. What the
 * replay appends is laid over that; the space itself is not touched.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../cell/Address.ts"
import type { Archive } from "../kernel/beat/Archive.ts"
import * as Journal from "../kernel/model/Journal.ts"
import { partOf } from "../persistence/Backend.ts"
import type { Anchor, Batch, BlobPart, BlobWriter, Head, JournalRow, SpaceStore } from "../persistence/Persistence.ts"
import { NotReplayable } from "./NotReplayable.ts"

/**
 * A store in which beat `from` is the next to come.
 *
 * @category models
 * @since 0.1.0
 */
export class Past implements SpaceStore {
  readonly space: string
  readonly epoch: number
  readonly place: string
  /** What the newest step of the replay made. */
  made: JournalRow | undefined
  /** Content that was asked for and is nowhere, not even in the present. */
  absent: string | undefined
  private readonly source: Archive["store"]
  private readonly limit: number
  /** Documents that differ from the present: as they were, and later as the replay made them. */
  private readonly texts = new Map<string, string | undefined>()
  /** Characters of these. */
  private size = 0
  /** Content that no beat had captured or made yet. */
  private readonly unseen = new Set<string>()
  private newest: Head
  /** The beat up to which the present is taken back. */
  private undone: number

  /** The past of a space before a beat. */
  static async before(archive: Archive, from: number): Promise<Past> {
    const past = new Past(archive.store, { from, limit: archive.settings.limits.pastBytes })
    await past.takeBack(archive)
    return past
  }

  private constructor(source: Archive["store"], { from, limit }: { readonly from: number; readonly limit: number }) {
    this.space = source.space
    this.epoch = source.epoch
    this.place = source.place
    this.source = source
    this.limit = limit
    this.undone = from - 1
    this.newest = before(source, from)
  }

  /** Takes back what the space did since, in turns with what it goes on to do; with ever fewer turns, so that it comes to an end. */
  private async takeBack({ rest }: Archive): Promise<void> {
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

  /** Takes back what the space did while a replayed run waited. */
  private catchUp(): void {
    if (this.undone < this.source.head().beat) for (const row of this.since()) this.undo(row)
  }

  private *since(): Iterable<JournalRow> {
    const { beat } = this.source.head()
    this.checkKept()
    yield* this.source.scanJournal(this.undone + 1, beat)
    this.undone = beat
  }

  /** What changed documents that are not yet taken back has to be known. */
  private checkKept(): void {
    const { beat } = this.source.anchor()
    if (beat <= this.undone) return
    throw new NotReplayable({ beat: this.undone + 1, code: "replay/pruned", reason: `the journal is pruned up to beat ${beat}. Begin with a later one` })
  }

  private undo(row: JournalRow): void {
    this.checkKept()
    const entry = Journal.parse(row.text)
    for (const [key, , [was]] of entry.cells) if (!this.texts.has(key)) this.keep(key, was === undefined ? undefined : JSON.stringify(was))
    for (const hash of [...entry.content ?? [], ...entry.made ?? []]) this.unseen.add(hash)
    this.undone = row.beat
  }

  private keep(key: string, text: string | undefined): void {
    this.size += key.length + (text?.length ?? 0) - (this.texts.get(key)?.length ?? 0)
    this.texts.set(key, text)
    if (this.size <= this.limit) return
    throw new NotReplayable({ beat: this.newest.beat + 1, code: "replay/size", reason: `more than ${this.limit} characters of documents changed since. Begin with a later beat, or raise the limit pastBytes` })
  }

  head(): Head {
    return this.newest
  }

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
      // Most lie elsewhere, and to take an address apart costs more than to see that.
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

  /** Readers look at the present alone. */
  isCode(): boolean {
    return false
  }

  holds(hash: string): boolean {
    this.catchUp()
    return !this.unseen.has(hash) && this.source.holds(hash)
  }

  undated(): [] {
    return []
  }

  /** From now on runs see this content. */
  see(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) this.unseen.delete(hash)
  }

  /** A replay has no next moment. */
  setDue(): void {}

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

/** The head as it was before a beat. */
const before = (source: Archive["store"], from: number): Head => {
  const head = source.head()
  // The beat itself may have been empty, or be trimmed: what counts is the first row from there on.
  for (const row of source.scanJournal(from, head.beat)) return { beat: from - 1, clock: 0, hash: Journal.parse(row.text).prev }
  return { ...head, beat: from - 1 }
}
