/**
 * Export: the state of a space at one durable beat as a frame, while later beats run.
 *
 * A snapshot has the whole state. A range has what came after a beat at which another frame ended: it follows that frame, and the
 * documents at its end are those of that frame with the changes of its journal.
 *
 * Records are ordered by type and key, so one state has one root on every store and host. Memory holds a chunk or two, the digests
 * of the content that is referred to, and the copies of the pin.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Capability from "../frame/Capability.ts"
import type { Chunk } from "../frame/Chunk.ts"
import { FrameWriter } from "../frame/FrameWriter.ts"
import * as Header from "../frame/Header.ts"
import type { Parts as Chosen } from "../frame/Parts.ts"
import * as Record from "../frame/Record.ts"
import * as Row from "../frame/Row.ts"
import type { Signer } from "../frame/Signature.ts"
import * as CellLine from "../kernel/journal/CellLine.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { Pin } from "../kernel/view/Pin.ts"
import { PART } from "../persistence/Backend.ts"
import * as ContentReferences from "../persistence/ContentReferences.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as LargeContent from "../persistence/LargeContent.ts"
import type { Anchor, JournalRow, ReceiptRow } from "../persistence/Persistence.ts"
import { PersistenceError, StoreDamaged } from "../persistence/PersistenceError.ts"
import * as ContentRecord from "./ContentRecord.ts"

/** The end of another frame: its newest beat, and the first 16 or more digits of the digest of that beat. */
export interface End {
  readonly beat: number
  readonly hash: string
}

/**
 * No range of a space begins at the end of another frame.
 */
export class NoRange extends Data.TaggedError("NoRange")<{ readonly space: string; readonly beat: number; readonly reason: string }> {
  readonly code = "export/no-range"
  override get message() {
    return `No range of space "${this.space}" follows beat ${this.beat}: ${this.reason}. Take a snapshot`
  }
}

/**
 * A space had no beat since the end of another frame. One that is at rest has a range nevertheless, since its queue may have grown.
 */
export class Unchanged extends Data.TaggedError("Unchanged")<{ readonly space: string; readonly beat: number }> {
  readonly code = "export/unchanged"
  override get message() {
    return `Space "${this.space}" had no beat after beat ${this.beat}, so no range follows. The frame before is its newest state`
  }
}

/** The parts of a space that an export takes. */
export interface Parts extends Chosen {
  /** The end of the frame that a range follows, with its whole journal. Default: none, for a snapshot. */
  readonly since?: End | undefined
}

/** The host that makes a frame: its hash, and the key that signs. */
export interface Maker {
  readonly hash: Hash["Service"]
  readonly signer?: Signer | undefined
}

/** The keys of a page of documents. */
const PAGE = 16

/** An export of a pinned state. */
class Export {
  private readonly pin: Pin
  private readonly parts: Required<{ readonly [Name in "content" | "history"]: NonNullable<Parts[Name]> }>
  /** The end of the frame before a range. */
  private readonly since: Anchor | undefined
  private readonly rows: ReadonlyArray<JournalRow>
  private readonly content = new Set<string>()
  private readonly signer: Signer | undefined
  readonly writer: FrameWriter

  constructor(pin: Pin, { hash, signer }: Maker, { content = "inline", history: wanted = "all", since }: Parts) {
    const history = since === undefined ? wanted : "all"
    this.pin = pin
    this.signer = signer
    this.parts = { content, history }
    this.since = since && endIn(pin, since)
    const { anchor, head, origin, space } = pin
    this.rows = history === "none" ? [...pin.journal(head.beat)] : []
    const [newest] = this.rows
    this.writer = new FrameWriter({
      v: Header.VERSION,
      kind: this.since === undefined ? "snapshot" : "range",
      space,
      origin,
      from: this.since?.beat ?? -1,
      to: head.beat,
      head: { beat: head.beat, hash: head.hash },
      anchor: this.since ?? (newest === undefined ? anchor : { beat: newest.beat - 1, hash: Journal.prevOf(newest.text) ?? "" }),
      format: Header.ROWS,
      caps: Capability.of([
        content === "inline" ? "content" : "content_ref", "observations", ...history === "all" ? ["history" as const] : [],
        ...signer === undefined ? [] : ["signed" as const]
      ]),
      features: [],
      clock: head.clock
    }, hash)
  }

  /** The chunks of all records, with pauses between them. */
  async *chunks(): AsyncGenerator<Chunk> {
    if (this.since === undefined) yield* this.cells()
    this.pin.pass()
    yield* this.journal()
    yield* this.pages("queue", this.pin.queue())
    yield* this.pages("receipt", this.pin.receipts(this.since?.beat ?? -1), (row) => this.isTaken(row))
    for (const row of this.pin.observations()) {
      yield* this.row("observation", row)
      await this.pin.rest()
    }
    for (const hash of [...this.content].sort()) yield* this.contentOf(hash)
    yield* await this.writer.seal(this.signer)
  }

  /** The rows of pages. A page has more rows than a step, and may have none. */
  private async *pages<T extends Row.RowType>(
    type: T,
    pages: Iterable<ReadonlyArray<Row.Rows[T]>>,
    isTaken: (row: Row.Rows[T]) => boolean = () => true
  ): AsyncGenerator<Chunk> {
    for (const rows of pages) {
      for (const row of rows) {
        if (!isTaken(row)) continue
        yield* this.row(type, row)
        const pause = this.pin.rest()
        if (pause !== undefined) await pause
      }
      await this.pin.rest()
    }
  }

  private isTaken({ beat, digest }: ReceiptRow): boolean {
    if (this.since !== undefined) return true
    // Without its beat, only the digest of a caller's id tells something.
    return this.parts.history === "all" || digest !== undefined || beat === this.pin.head.beat
  }

  private async *cells(): AsyncGenerator<Chunk> {
    const { pin } = this
    for (let after = "", isLast = false; !isLast;) {
      await pin.follow()
      const keys = pin.keys(after, PAGE)
      isLast = keys.length < PAGE
      for (const key of keys) {
        const text = pin.read(key)
        if (text === undefined) throw new Error(`the document ${key} has no text at beat ${pin.head.beat}`)
        yield* this.row("cell", { key, text })
        after = key
        await pin.rest(text.length)
      }
      pin.pass(after)
    }
  }

  private async *journal(): AsyncGenerator<Chunk> {
    const { head } = this.pin
    const anchor = this.since ?? this.pin.anchor
    let { hash } = anchor
    for (const row of this.parts.history === "none" ? this.rows : this.pin.journal(anchor.beat + 1)) {
      if (row.beat > head.beat) break
      if (this.parts.history === "all" && Journal.prevOf(row.text) !== hash) throw this.broken(row.beat)
      hash = row.hash
      yield* this.row("journal", row)
      await this.pin.rest(row.text.length)
    }
  }

  private broken(beat: number): PersistenceError {
    const { place, space } = this.pin
    const detail = `beat ${beat} of its journal does not follow the one before`
    return new PersistenceError({ reason: new StoreDamaged({ space, place, detail }) })
  }

  private row<T extends Row.RowType>(type: T, row: Row.Rows[T]): ReadonlyArray<Chunk> {
    if ("text" in row) {
      const hashes = type === "journal" && this.since !== undefined ? contentSince(row.text) : ContentReferences.of(row.text)
      for (const hash of hashes) this.content.add(hash)
    }
    return this.writer.add(Row.write(type, row))
  }

  /** Content, if it was there. */
  private async *contentOf(hash: string): AsyncGenerator<Chunk> {
    const { pin, writer } = this
    await pin.rest()
    const first = pin.blobPart(hash, 0)
    if (first === undefined) return
    const large = LargeContent.decodePart(hash, first)
    const size = large?.size ?? first.size
    const isCode = pin.isCode(hash)
    if (this.parts.content === "refs" || large !== undefined) {
      const bytes = large === undefined ? new Uint8Array() : LargeContent.encode(large)
      return yield* writer.add({ type: "content", key: ContentRecord.ofSize(hash, isCode, size), bytes })
    }
    const key = ContentRecord.ofBytes(hash, isCode)
    if (size <= Record.MAX_WHOLE) return yield* writer.add({ type: "content", key, bytes: first.bytes })
    yield* writer.begin({ type: "content", key, total: size })
    for (let at = 0; at < size; at += PART) {
      const part = at === 0 ? first : pin.blobPart(hash, at / PART)
      if (part === undefined) throw new Error(`the content ${hash} was removed from under its pin`)
      yield* writer.part(key, part.bytes, at)
      await pin.rest(part.bytes.length)
    }
  }
}

/**
 * The row of the journal with which another frame ended.
 *
 * @throws NoRange, Unchanged
 */
const endIn = (pin: Pin, { beat, hash }: End): Anchor => {
  const { anchor, head, space } = pin
  if (beat < anchor.beat) throw new NoRange({ space, beat, reason: `its journal is kept from beat ${anchor.beat + 1} on` })
  if (beat > head.beat) throw new NoRange({ space, beat, reason: `its newest beat is ${head.beat}` })
  const [row] = beat === anchor.beat ? [anchor] : pin.journal(beat)
  if (row?.beat !== beat || !row.hash.startsWith(hash)) throw new NoRange({ space, beat, reason: "its beat of that number is another one" })
  if (beat === head.beat && isEmpty(pin.queue())) throw new Unchanged({ space, beat })
  return { beat, hash: row.hash }
}

/** Whether no signal waits. One that waits for its time, its enzyme or a resume has no beat, and may have come since. */
const isEmpty = (queue: Iterable<ReadonlyArray<unknown>>): boolean => {
  for (const rows of queue) if (rows.length > 0) return false
  return true
}

/**
 * The content that a row of the journal brings: each to which it refers, except that of the documents before their changes, which is
 * in the frames before.
 */
const contentSince = (text: string): Iterable<string> => {
  const hashes = new Set(ContentReferences.of(text))
  if (hashes.size === 0) return hashes
  const { cells, content = [], made = [] } = Journal.parse(text)
  for (const { before } of cells.map(CellLine.read)) {
    for (const hash of ContentReferences.of(JSON.stringify(before) ?? "")) hashes.delete(hash)
  }
  for (const hash of [...content, ...made]) hashes.add(hash)
  return hashes
}

/**
 * The frame of a pinned state in pieces: its opening, and then whole chunks. The last one is the seal, whose digest is the root.
 */
export async function* frame(pin: Pin, maker: Maker, parts: Parts = {}): AsyncGenerator<Uint8Array> {
  const exported = new Export(pin, maker, parts)
  yield exported.writer.opening
  for await (const chunk of exported.chunks()) yield await exported.writer.encode(chunk)
}
