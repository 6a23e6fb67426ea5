/**
 * Import: a frame, or a chain of them, becomes a new space, in one pass and with bounded memory.
 *
 * The store that takes the rows is the staging: it opens with the seal of the frame. Its progress is stored with each
 * group between two records, so a later importer goes on there.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Address from "../cell/Address.ts"
import { concat } from "../cell/Bytes.ts"
import { type FrameRecord, FrameReader, type Progress as ReaderProgress, type FrameEnd } from "../frame/FrameReader.ts"
import { type FrameRefused, Refusal } from "../frame/FrameRefused.ts"
import type * as Header from "../frame/Header.ts"
import * as Record from "../frame/Record.ts"
import * as Row from "../frame/Row.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import * as Arrived from "../kernel/model/Arrived.ts"
import { PendingSignal } from "../kernel/model/Signal.ts"
import { attempt, PART } from "../persistence/Backend.ts"
import type { Hash, Hasher } from "../persistence/Hash.ts"
import type { Batch, BlobWriter, JournalRow, PlacedStore, QueueRow } from "../persistence/Persistence.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import * as StoreFormat from "../persistence/StoreFormat.ts"
import * as Chain from "./Chain.ts"
import * as ContentRecord from "./ContentRecord.ts"
import * as DocumentCheck from "./DocumentCheck.ts"
import * as ReferencedContent from "./ReferencedContent.ts"

/** The bytes of records after which a group is stored. */
const GROUP = 524_288

/** The most bytes that are read at once. */
const SLICE = 262_144

/** The state of an importer between two records, or between two frames of a chain. */
export interface Progress {
  /** The number of the frame in its chain, from 0. */
  readonly frame: number
  /** The state of its reader; absent before its first record. */
  readonly reader?: ReaderProgress
  /** The newest journal row, or the anchor of the first frame. */
  readonly journal: Header.Point
  /** The content that was found nowhere so far. */
  readonly absent?: Arrived.AbsentContent | undefined
}

/** The end of an import, with the content that it found nowhere. */
export interface ImportEnd extends FrameEnd {
  readonly absent: Arrived.AbsentContent | undefined
}

/** A divided record, of which some bytes came. */
interface Divided {
  readonly record: Record.Owner
  /** The bytes so far, and the writer in their place for content. */
  readonly held: Array<Uint8Array>
  readonly content: { readonly named: ContentRecord.ContentName; readonly writer: BlobWriter; readonly hasher: Hasher } | undefined
  offset: number
}

/** The journal before the first row of all. */
const NONE: Header.Point = { beat: -1, hash: "" }

const nothing: Batch = { entry: undefined, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [] }

/** The identity of an import, and its reason. */
export interface ImportIdentity {
  readonly id: string
  readonly why: Arrived.Arrived["why"]
}

/** The host that takes an import: its hash, and its content store. */
export type Taker = Pick<ReferencedContent.Seeking, "contents" | "hash">

/**
 * The import of one frame or chain into one store.
 */
export class Import {
  private readonly store: PlacedStore
  private readonly hash: Hash["Service"]
  private readonly taker: Taker
  private readonly named: ImportIdentity
  /** The time of its first part, in milliseconds since 1970. */
  private begun: number | undefined
  private reader: FrameReader
  private number: number
  /** Whether the store is ready for the records of the frame. */
  private hasBegun: boolean
  private journal: Header.Point | undefined
  private divided: Divided | undefined
  /** The references of the records so far, until they are looked for. */
  private references: Array<ContentRecord.ContentReference> = []
  private absent: Arrived.AbsentContent | undefined
  private size = 0

  /** An import into a store, from its beginning or from the progress that the store has. */
  constructor(store: PlacedStore, taker: Taker, named: ImportIdentity) {
    const { hash } = taker
    this.store = store
    this.hash = hash
    this.taker = taker
    this.named = named
    const note = Arrived.importing<Progress>(store.arrival()?.note ?? "")
    const { absent, frame = 0, journal, reader } = note?.progress ?? {}
    this.begun = note?.begun
    this.reader = reader === undefined ? new FrameReader(hash) : FrameReader.resume(hash, reader)
    this.number = frame
    this.hasBegun = reader !== undefined
    this.journal = journal
    this.absent = absent
  }

  /** The number of the frame in its chain, from 0. */
  get frame(): number {
    return this.number
  }

  /** The number of the chunk that comes next: 0 before the header. */
  get next(): number {
    return this.reader.nextSeq
  }

  /** Whether the whole frame came: another one of its chain may follow. */
  get isSealed(): boolean {
    return this.reader.isSealed
  }

  /**
   * Takes the next bytes of the frame, in pieces of any size. `now` is the time, in milliseconds since 1970. The sender is asked for
   * content that has no bytes in the frame.
   */
  take(bytes: Uint8Array, now: number, sender?: ReferencedContent.Sender): Effect.Effect<void, FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      for (let at = 0; at < bytes.length; at += SLICE) {
        const found = yield* this.reader.feed(bytes.subarray(at, at + SLICE))
        const { header } = this.reader
        if (!this.hasBegun && header !== undefined) {
          yield* this.refusing(() => this.begin(header, now))
          // Rows that it removes are gone before others have their numbers.
          if (header.kind === "range") yield* this.flush
        }
        yield* this.refusing(() => {
          for (const record of found) this.record(record)
        })
        yield* this.look(sender)
        if (this.size < GROUP) continue
        if (this.reader.isBetween) this.note(now)
        yield* this.flush
      }
    })
  }

  /** Ends a frame that another one of its chain follows. */
  follow(now: number): Effect.Effect<void, FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      yield* this.checkEnd
      this.number++
      this.reader = new FrameReader(this.hash)
      this.hasBegun = false
      this.note(now)
      yield* this.flush
    })
  }

  /** Stores the records so far. Bytes of a chunk that is not complete are forgotten. */
  pause(now: number): Effect.Effect<void, PersistenceError> {
    return Effect.suspend(() => {
      this.reader.rewind()
      if (this.hasBegun && this.reader.isBetween) this.note(now)
      else this.touch(now)
      return this.flush
    })
  }

  /** Ends the last frame: the space is whole, and may be opened. */
  end(): Effect.Effect<ImportEnd, FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const sealed = yield* this.checkEnd
      const { head, origin } = this.header
      yield* this.flush
      const differs = yield* DocumentCheck.check(this.store, this.hash)
      if (differs !== undefined) return yield* this.reader.refuse(differs)
      // An earlier version knows neither detached spaces nor the origins of signals.
      yield* this.store.raise({ format: StoreFormat.NEWEST, carried: StoreFormat.NEWEST })
      // A later frame of the chain may have brought it.
      const absent = Arrived.without(this.absent, (hash) => this.store.holds(hash))
      const arrived: Arrived.Arrived = { why: this.named.why, from: origin, beat: head.beat, ...absent === undefined ? {} : { absent } }
      yield* attempt(() => this.store.arrive({ note: JSON.stringify(arrived), isWhole: true }))
      yield* this.store.flush
      return { ...sealed, absent }
    })
  }

  private readonly checkEnd: Effect.Effect<FrameEnd, FrameRefused | PersistenceError> = Effect.gen({ self: this }, function*() {
    const sealed = yield* this.reader.sealed()
    const { head } = this.header
    yield* this.refusing(() => {
      if (this.journal?.beat === head.beat && this.journal.hash === head.hash) return
      throw new Refusal("frame/changed", `its journal ends with beat ${this.journal?.beat ?? -1}, and its head is beat ${head.beat}`)
    })
    return sealed
  })

  /** The header, where a record or the seal is read. */
  private get header(): Header.Header {
    const { header } = this.reader
    if (header === undefined) throw new Error("a record follows the header")
    return header
  }

  private readonly flush: Effect.Effect<void, PersistenceError> = Effect.suspend(() => {
    this.size = 0
    return this.store.flush
  })

  /** Looks for the content of the references so far. */
  private look(sender: ReferencedContent.Sender | undefined): Effect.Effect<void, PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const { begun, hash, named: { id }, references, store, taker } = this
      if (references.length === 0) return
      this.references = []
      const seeking = { ...taker, sender, store, uploads: Arrived.uploadsOf(hash.hex, { id, begun }), from: this.header.space }
      for (const reference of references) {
        if (!(yield* ReferencedContent.find(seeking, reference))) this.absent = Arrived.withAbsent(this.absent, reference.hash)
        this.size += Math.min(reference.size, PART)
        // It may take minutes, and an import without a newer time is given up.
        if (reference.size > PART) yield* Effect.map(Clock.currentTimeMillis, (now) => this.touch(now))
        if (this.size >= GROUP) yield* this.flush
      }
    })
  }

  private refusing(body: () => void): Effect.Effect<void, FrameRefused | PersistenceError> {
    return Effect.flatMap(attempt(() => {
      try {
        body()
        return undefined
      } catch (error) {
        if (error instanceof Refusal) return this.reader.refuse(error)
        throw error
      }
    }), (refused) => refused === undefined ? Effect.void : Effect.fail(refused))
  }

  private begin(header: Header.Header, now: number): void {
    const { anchor, clock, kind } = header
    if (kind === "range") this.beginRange(header)
    else if (kind !== "snapshot" || this.number > 0) {
      throw new Refusal("frame/unknown", `it is a ${kind}; an import takes a snapshot, and then the ranges that follow it`)
    } else {
      this.journal = anchor
      this.begun = now
      const note: Arrived.Importing = { ...this.named, begun: now, at: now }
      this.store.arrive({ note: JSON.stringify(note), isWhole: false }, { ...anchor, clock })
    }
    this.hasBegun = true
  }

  /** The queue and the observations of a range take the place of all former ones. */
  private beginRange(header: Header.Header): void {
    const { beat, hash } = this.journal ?? NONE
    if (this.journal === undefined || !Chain.follows(header, { beat, hash })) {
      const after = this.journal === undefined ? "no frame came before it" : `the frame before it ends with beat ${beat}`
      throw new Refusal("frame/order", `it is the range after beat ${header.anchor.beat}, and ${after}`)
    }
    const { store } = this
    const dequeued = Array.from(store.queue(), ({ seq }) => seq)
    const observations = store.observations().map(({ node }) => ({ node, text: undefined }))
    store.append({ ...nothing, dequeued, observations })
  }

  private note(now: number): void {
    const { absent, begun, hasBegun, journal, number: frame } = this
    if (journal === undefined) return
    const progress: Progress = { frame, journal, absent, ...hasBegun ? { reader: this.reader.progress } : {} }
    const note: Arrived.Importing<Progress> = { ...this.named, begun, at: now, progress }
    this.store.arrive({ note: JSON.stringify(note), isWhole: false })
  }

  /** Stores the time of work within a part, or of its end within a record. The progress stays. */
  private touch(now: number): void {
    const known = Arrived.importing(this.store.arrival()?.note ?? "")
    if (known !== undefined) this.store.arrive({ note: JSON.stringify({ ...known, at: now }), isWhole: false })
  }

  private record(record: FrameRecord): void {
    this.size += record.here.length + record.key.length
    if (record.type === "part") this.part(record)
    else if (record.here.length < record.total) this.divided = this.divide(record)
    else this.whole(record.type, { key: record.key, bytes: record.here })
  }

  private divide(record: Record.Owner): Divided {
    const named = record.type === "content" ? contentIn(record.key) : undefined
    const isHeld = named === undefined || named.isCode || named.size !== undefined
    const content = isHeld ? undefined : { named, writer: this.store.writeBlob(), hasher: this.hash.start() }
    if (content === undefined && record.total > Record.MAX_HELD) {
      throw new Refusal("frame/bounds", `"${record.key}" announces ${record.total} bytes, more than ${Record.MAX_HELD}`)
    }
    return { record, held: [], content, offset: 0 }
  }

  private part({ here }: Record.Part): void {
    const { divided } = this
    if (divided === undefined) throw new Refusal("frame/order", "a part comes where none is expected")
    const { content, held, record } = divided
    divided.offset += here.length
    if (content === undefined) held.push(here)
    else {
      content.hasher.update(here)
      for (let at = 0; at < here.length; at += PART) content.writer.write(here.subarray(at, at + PART))
    }
    if (divided.offset < record.total) return
    this.divided = undefined
    if (content === undefined) return this.whole(record.type, { key: record.key, bytes: concat(held) })
    checkDigest(content.named.hash, content.hasher.hex())
    content.writer.finish(content.named.hash)
  }

  private whole(type: Record.Type, record: Pick<Record.Record, "bytes" | "key">): void {
    const taker = this.takers[type]
    if (taker === undefined) throw new Refusal("frame/unknown", `a ${this.header.kind} has no records of type ${type}`)
    taker(record)
  }

  /** A queued signal. One for another space keeps the origin under which it was sent, so its receiver knows it again. */
  private queued(row: QueueRow): QueueRow {
    try {
      const pending = PendingSignal.fromRow(row)
      const sent = pending.sentUnder(this.header.origin)
      return sent === pending ? row : { ...row, text: sent.text }
    } catch {
      throw new Refusal("frame/bounds", `the text of the queued signal ${row.seq} is none`)
    }
  }

  /** Appends the row of each type of record. */
  private readonly takers: { readonly [T in Record.Type]?: (record: Pick<Record.Record, "bytes" | "key">) => void } = {
    cell: (record) => {
      if (this.header.kind === "range") throw new Refusal("frame/unknown", "a range has no documents beside its journal")
      const { key, text } = Row.read("cell", record)
      this.store.append({ ...nothing, cells: [{ address: addressOf(key), text }] })
    },
    journal: (record) => {
      const entry = Row.read("journal", record)
      const { beat, hash } = this.journal ?? NONE
      const digest = this.hash.hex(Journal.hashedText(entry.text))
      if (digest !== entry.hash) throw new Refusal("frame/changed", `the text of beat ${entry.beat} in its journal has another digest`)
      if (Journal.prevOf(entry.text) !== hash || entry.beat <= beat) {
        throw new Refusal("frame/order", `beat ${entry.beat} of its journal does not follow beat ${beat}`)
      }
      const cells = this.header.kind === "range" ? changedIn(entry) : nothing.cells
      // An earlier importer may have stored it after its newest note.
      if (entry.beat > this.store.head().beat) this.store.append({ ...nothing, entry, cells })
      this.journal = { beat: entry.beat, hash: entry.hash }
    },
    queue: (record) => this.store.append({ ...nothing, queued: [this.queued(Row.read("queue", record))] }),
    receipt: (record) => this.store.append({ ...nothing, receipts: [Row.read("receipt", record)] }),
    observation: (record) => this.store.append({ ...nothing, observations: [Row.read("observation", record)] }),
    content: ({ bytes, key }) => {
      const named = contentIn(key)
      const { hash, isCode, size } = named
      if (size !== undefined) return void this.references.push(ContentRecord.referenceIn(named, bytes))
      checkDigest(hash, this.hash.hex(bytes))
      this.store.append({ ...nothing, blobs: [{ hash, bytes, code: isCode }] })
    }
  }
}

const contentIn = (key: string): ContentRecord.ContentName => {
  const named = ContentRecord.read(key)
  if (named === undefined) throw new Refusal("frame/bounds", `"${key.slice(0, 100)}" names no content`)
  return named
}

const checkDigest = (hash: string, found: string): void => {
  if (found !== hash) throw new Refusal("frame/changed", `the content ${hash} has the digest ${found}`)
}

/** The documents as an entry of the journal leaves them. */
const changedIn = (entry: JournalRow): Batch["cells"] =>
  DocumentCheck.changesOf(entry).map(({ after, key }) =>
    ({ address: addressOf(key), text: after === undefined ? undefined : JSON.stringify(after) }))

/** The address of a document's key. */
const addressOf = (key: string): Address.Address => {
  try {
    const address = Address.ofKey(key)
    if (address.key === key) return address
  } catch (error) {
    if (!(error instanceof Address.InvalidAddress)) throw error
  }
  throw new Refusal("frame/bounds", `"${key.slice(0, 100)}" is no key of a document`)
}
