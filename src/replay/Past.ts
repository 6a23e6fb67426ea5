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
import type { Archive } from "../kernel/Archive.ts"
import * as Journal from "../kernel/Journal.ts"
import type { Batch, BlobWriter, Head, JournalRow, SpaceStore } from "../persistence/Persistence.ts"

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
  private readonly source: Archive["store"]
  /** Documents that differ from the present: as they were, and later as the replay made them. */
  private readonly texts = new Map<string, string | undefined>()
  /** Content that no beat had captured yet. */
  private readonly unseen = new Set<string>()
  private newest: Head
  /** The beat up to which the present is taken back. */
  private undone: number

  constructor(source: Archive["store"], from: number) {
    this.space = source.space
    this.epoch = source.epoch
    this.place = source.place
    this.source = source
    this.undone = from - 1
    this.newest = before(source, from)
    this.catchUp()
  }

  /** Takes back what the space did since, which may go on while a replayed run waits. */
  private catchUp(): void {
    const { beat } = this.source.head()
    if (beat <= this.undone) return
    for (const row of this.source.scanJournal(this.undone + 1, beat)) {
      const entry = Journal.parse(row.text)
      for (const [key, , [was]] of entry.cells) if (!this.texts.has(key)) this.texts.set(key, was === undefined ? undefined : JSON.stringify(was))
      for (const hash of entry.content ?? []) this.unseen.add(hash)
    }
    this.undone = beat
  }

  head(): Head {
    return this.newest
  }

  read(key: string): string | undefined {
    this.catchUp()
    return this.texts.has(key) ? this.texts.get(key) : this.source.read(key)
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    this.catchUp()
    const names = new Set(this.source.children(scope, id))
    for (const [key, text] of this.texts) {
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
    const isHere = (key: string): boolean => Address.isWithin(id, Address.ofKey(key).id) && Address.ofKey(key).id !== id && (page.after === undefined || key > page.after)
    for (const [key, text] of this.texts) if (text !== undefined && isHere(key) && (end === undefined || key <= end)) keys.push(key)
    return [...new Set(keys)].sort().slice(0, page.limit)
  }

  blob(hash: string): Uint8Array | undefined {
    this.catchUp()
    return this.unseen.has(hash) ? undefined : this.source.blob(hash)
  }

  /** From now on runs see this content. */
  see(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) this.unseen.delete(hash)
  }

  append({ cells, entry }: Batch): void {
    if (entry === undefined) return
    for (const { address, text } of cells) this.texts.set(address.key, text)
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

  digest(): undefined {
    return undefined
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
