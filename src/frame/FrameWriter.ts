/**
 * The writer of frames.
 *
 * @module
 */
import type { Hash } from "../persistence/Hash.ts"
import * as Capability from "./Capability.ts"
import * as Chunk from "./Chunk.ts"
import * as Deflate from "./Deflate.ts"
import * as Header from "./Header.ts"
import * as Record from "./Record.ts"
import * as Seal from "./Seal.ts"
import type * as Signature from "./Signature.ts"

/**
 * Writes one frame: it fills each chunk with records as far as whole records of one type go.
 *
 * The order of the records is that of the calls of {@link add}. With an equal header and equal records in an equal order the
 * root is equal on each host.
 */
export class FrameWriter {
  /** The bytes before the first chunk. */
  readonly opening: Uint8Array
  private readonly header: Header.Header
  private readonly hash: Hash["Service"]
  private digest: string
  private type = 0
  /** The bytes of the next chunk, and their number. */
  private room: Uint8Array | undefined
  private size = 0
  private chunks = 0
  private records = 0
  private bytes = 0

  constructor(header: Header.Header, hash: Hash["Service"]) {
    this.header = header
    this.hash = hash
    this.opening = Chunk.opening(Header.encode(header))
    this.digest = Chunk.first(hash, this.opening)
  }

  /**
   * Adds a record. Returns the chunks that are full.
   *
   * @throws Refusal
   */
  add(record: Record.Record): ReadonlyArray<Chunk.Chunk> {
    this.records++
    return this.put(Record.encode(record))
  }

  /** Begins a record whose bytes come in parts, by {@link part}. */
  begin(owner: Omit<Record.Owner, "here">): ReadonlyArray<Chunk.Chunk> {
    this.records++
    return this.put([Record.encodeOwner(owner)])
  }

  /** Adds bytes of a record that was begun: a multiple of `MAX_WHOLE`, or the last ones. `from` are the bytes before them. */
  part(key: string, bytes: Uint8Array, from: number): ReadonlyArray<Chunk.Chunk> {
    return this.put(Record.encodeParts(key, bytes, from))
  }

  private put(encoded: ReadonlyArray<Record.EncodedRecord>): ReadonlyArray<Chunk.Chunk> {
    return encoded.flatMap(([type, head, bytes]) => {
      const length = head.length + bytes.length
      const full = this.size > 0 && (type !== this.type || this.size + length > Chunk.MAX_RAW) ? this.cut() : []
      const room = this.room ??= new Uint8Array(Chunk.MAX_RAW)
      room.set(head, this.size)
      room.set(bytes, this.size + head.length)
      this.type = type
      this.size += length
      return full
    })
  }

  /**
   * Ends the frame. Returns the last chunks; the digest of the seal is the root, which the key signs if the header has the
   * capability `signed`.
   */
  async seal(signer?: Signature.Signer): Promise<ReadonlyArray<Chunk.Chunk>> {
    const last = this.size > 0 ? this.cut() : []
    const { bytes, chunks, header: { caps, head }, records } = this
    const totals = { chunks, records, bytes, head }
    const seal = this.link(Chunk.SEAL, Seal.encode(totals))
    if (Capability.has(caps, "signed") !== (signer !== undefined)) throw new Error("a frame is signed as its header says")
    if (signer === undefined) return [...last, seal]
    return [...last, { ...seal, raw: Seal.encode(totals, await signer.sign(seal.digest)) }]
  }

  /** The bytes of a chunk in the frame: compressed if the header says so and it helps. */
  async encode(chunk: Chunk.Chunk): Promise<Uint8Array> {
    if (chunk.type === Chunk.SEAL || !Capability.has(this.header.caps, "deflate")) return Chunk.encode(chunk)
    const compressed = await Deflate.compress(chunk.raw)
    return Chunk.encode(chunk, compressed.length < chunk.raw.length ? compressed : chunk.raw)
  }

  private cut(): ReadonlyArray<Chunk.Chunk> {
    const raw = (this.room ?? new Uint8Array()).subarray(0, this.size)
    this.room = undefined
    this.size = 0
    this.bytes += raw.length
    return [this.link(this.type, raw)]
  }

  private link(type: number, raw: Uint8Array): Chunk.Chunk {
    const seq = ++this.chunks
    this.digest = Chunk.after(this.hash, this.digest, { type, seq, raw })
    return { type, seq, raw, digest: this.digest }
  }
}
