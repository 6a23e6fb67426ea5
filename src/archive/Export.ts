/**
 * Export: the state of a space at one durable beat as a frame, while later beats run.
 *
 * Records are ordered by type and key, so one state has one root on every store and host. Memory holds a chunk or two, the digests
 * of the content that is referred to, and the copies of the pin.
 *
 * @module
 */
import * as Capability from "../frame/Capability.ts"
import type { Chunk } from "../frame/Chunk.ts"
import { FrameWriter } from "../frame/FrameWriter.ts"
import * as Header from "../frame/Header.ts"
import * as Record from "../frame/Record.ts"
import * as Row from "../frame/Row.ts"
import type { Signer } from "../frame/Signature.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { Pin } from "../kernel/view/Pin.ts"
import { PART } from "../persistence/Backend.ts"
import * as ContentReferences from "../persistence/ContentReferences.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as LargeContent from "../persistence/LargeContent.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import { PersistenceError, StoreDamaged } from "../persistence/PersistenceError.ts"
import * as ContentRecord from "./ContentRecord.ts"

/** The parts of a space that an export takes. */
export interface Parts {
  /** The journal as far as it is kept, or the row of the head alone. Default: all. */
  readonly history?: "all" | "none" | undefined
  /** Content with its bytes, or by its digest and size. Default: with its bytes. */
  readonly content?: "inline" | "refs" | undefined
}

/** The host that makes a frame: its hash, and the key that signs. */
export interface Maker {
  readonly hash: Hash["Service"]
  readonly signer?: Signer | undefined
}

/** The keys of a page of documents. */
const PAGE = 64

/** An export of a pinned state. */
class Export {
  private readonly pin: Pin
  private readonly parts: Required<{ readonly [Name in keyof Parts]: NonNullable<Parts[Name]> }>
  private readonly rows: ReadonlyArray<JournalRow>
  private readonly content = new Set<string>()
  private readonly signer: Signer | undefined
  readonly writer: FrameWriter

  constructor(pin: Pin, { hash, signer }: Maker, { content = "inline", history = "all" }: Parts) {
    this.pin = pin
    this.signer = signer
    this.parts = { content, history }
    const { anchor, head, origin, space } = pin
    this.rows = history === "none" ? [...pin.journal(head.beat)] : []
    const [newest] = this.rows
    this.writer = new FrameWriter({
      v: Header.VERSION,
      kind: "snapshot",
      space,
      origin,
      from: -1,
      to: head.beat,
      head: { beat: head.beat, hash: head.hash },
      anchor: newest === undefined ? anchor : { beat: newest.beat - 1, hash: Journal.prevOf(newest.text) ?? "" },
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
    yield* this.cells()
    this.pin.pass()
    yield* this.journal()
    for (const rows of this.pin.queue()) {
      for (const row of rows) yield* this.row("queue", row)
      await this.pin.rest()
    }
    const { parts: { history }, pin: { head } } = this
    for (const rows of this.pin.receipts()) {
      // Without its beat, only the digest of a caller's id tells something.
      for (const row of rows) if (history === "all" || row.digest !== undefined || row.beat === head.beat) yield* this.row("receipt", row)
      await this.pin.rest()
    }
    for (const row of this.pin.observations()) {
      yield* this.row("observation", row)
      await this.pin.rest()
    }
    for (const hash of [...this.content].sort()) yield* this.contentOf(hash)
    yield* await this.writer.seal(this.signer)
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
        await pin.rest()
      }
      pin.pass(after)
    }
  }

  private async *journal(): AsyncGenerator<Chunk> {
    const { anchor, head } = this.pin
    let { hash } = anchor
    for (const row of this.parts.history === "none" ? this.rows : this.pin.journal(anchor.beat + 1)) {
      if (row.beat > head.beat) break
      if (this.parts.history === "all" && Journal.prevOf(row.text) !== hash) throw this.broken(row.beat)
      hash = row.hash
      yield* this.row("journal", row)
      await this.pin.rest()
    }
  }

  private broken(beat: number): PersistenceError {
    const { place, space } = this.pin
    const detail = `beat ${beat} of its journal does not follow the one before`
    return new PersistenceError({ reason: new StoreDamaged({ space, place, detail }) })
  }

  private row<T extends Row.RowType>(type: T, row: Row.Rows[T]): ReadonlyArray<Chunk> {
    if ("text" in row) for (const hash of ContentReferences.of(row.text)) this.content.add(hash)
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
    if (this.parts.content === "refs" || large !== undefined) {
      return yield* writer.add({ type: "content", key: ContentRecord.ofSize(hash, size), bytes: new Uint8Array() })
    }
    const key = ContentRecord.ofBytes(hash, pin.isCode(hash))
    if (size <= Record.MAX_WHOLE) return yield* writer.add({ type: "content", key, bytes: first.bytes })
    yield* writer.begin({ type: "content", key, total: size })
    for (let at = 0; at < size; at += PART) {
      const part = at === 0 ? first : pin.blobPart(hash, at / PART)
      if (part === undefined) throw new Error(`the content ${hash} was removed from under its pin`)
      yield* writer.part(key, part.bytes, at)
      await pin.rest()
    }
  }
}

/**
 * The frame of a pinned state in pieces: its opening, and then whole chunks. The last one is the seal, whose digest is the root.
 */
export async function* frame(pin: Pin, maker: Maker, parts: Parts = {}): AsyncGenerator<Uint8Array> {
  const exported = new Export(pin, maker, parts)
  yield exported.writer.opening
  for await (const chunk of exported.chunks()) yield await exported.writer.encode(chunk)
}
