/**
 * The reader of frames.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hash } from "../persistence/Hash.ts"
import * as Capability from "./Capability.ts"
import * as Chunk from "./Chunk.ts"
import * as Deflate from "./Deflate.ts"
import { FrameRefused, Refusal } from "./FrameRefused.ts"
import * as Header from "./Header.ts"
import * as Record from "./Record.ts"
import * as Seal from "./Seal.ts"
import * as Signature from "./Signature.ts"

/** A record, or a part of a divided one, of a chunk that fits the chain. */
export type FrameRecord = Record.Owner | Record.Part

/** The end of a whole frame: its root, in hexadecimal digits, and its totals. */
export interface FrameEnd extends Seal.Totals {
  readonly root: string
  /** The key that signed the root; `undefined` for a frame without a signature. */
  readonly signer: Signature.PublicKey | undefined
}

/** The state of a reader between two chunks, as JSON. */
export interface Progress {
  readonly header: Header.Header
  /** The digest of the newest chunk. */
  readonly digest: string
  readonly chunks: number
  readonly records: number
  readonly bytes: number
  /** The offset of the next chunk. */
  readonly offset: number
}

/** The step of a reader, with the number of bytes that it waits for. */
type Step =
  | { readonly at: "opening" | "header" | "numbers"; readonly needs: number }
  | { readonly at: "chunk"; readonly needs: number; readonly numbers: Chunk.Numbers }

const numbers: Step = { at: "numbers", needs: Chunk.HEAD }

/**
 * Reads one frame as its bytes come, in pieces of any size, one after another. Each chunk is checked against the chain before its
 * records are handed on, and they may be shown after {@link sealed}. It holds two chunks at most.
 */
export class FrameReader {
  private readonly hash: Hash["Service"]
  private readonly pending = new Uint8Array(Chunk.HEAD + Chunk.MAX_RAW + Chunk.DIGEST)
  private filled = 0
  private step: Step = { at: "opening", needs: Chunk.OPENING }
  /** The offset of the chunk that is read. */
  private offset = 0
  private consumed = 0
  private chunks = 0
  private records = 0
  private bytes = 0
  private digest = ""
  private read: Header.Header | undefined
  private end: FrameEnd | undefined
  /** A refused frame stays refused. */
  private refused: FrameRefused | undefined
  private readonly assembly = new Record.Assembly()

  constructor(hash: Hash["Service"]) {
    this.hash = hash
  }

  /** The header; `undefined` before all of it came. */
  get header(): Header.Header | undefined {
    return this.read
  }

  /** The header, where a chunk is read. */
  private get known(): Header.Header {
    if (this.read === undefined) throw new Error("a chunk follows its header")
    return this.read
  }

  /** The number of the next chunk, or of the seal: 0 before the header is there. */
  get nextSeq(): number {
    return this.read === undefined ? 0 : this.chunks + (this.step.at === "chunk" ? 0 : 1)
  }

  /** Whether the next byte begins a chunk, and no record is divided between bytes so far and later ones. */
  get isBetween(): boolean {
    return this.step.at === "numbers" && this.filled === 0 && !this.assembly.isOpen && this.end === undefined
  }

  /** Whether the whole frame was read. */
  get isSealed(): boolean {
    return this.end !== undefined
  }

  /** The state that a later reader needs to go on here, where {@link isBetween}. */
  get progress(): Progress {
    const { bytes, chunks, digest, offset, records } = this
    return { bytes, chunks, digest, offset, records, header: this.known }
  }

  /** Forgets the bytes of a chunk that is not complete: the next byte begins it again. */
  rewind(): void {
    if (this.step.at === "chunk") this.chunks--
    if (this.read !== undefined) this.step = numbers
    this.filled = 0
    this.consumed = this.offset
  }

  /** Refuses the frame for its records. */
  refuse({ code, message }: Refusal): FrameRefused {
    return this.refused = new FrameRefused({ code, chunk: this.chunks, offset: this.offset, detail: message })
  }

  /** A reader that goes on where another one was. */
  static resume(hash: Hash["Service"], { header, ...progress }: Progress): FrameReader {
    const reader = new FrameReader(hash)
    reader.read = header
    reader.step = numbers
    reader.consumed = progress.offset
    return Object.assign(reader, progress)
  }

  /** Takes the next bytes. Returns the records of the chunks that end in them. */
  feed(bytes: Uint8Array): Effect.Effect<ReadonlyArray<FrameRecord>, FrameRefused> {
    return this.refusing(async () => {
      const found: Array<FrameRecord> = []
      for (let at = 0; at < bytes.length;) {
        if (this.end !== undefined) throw new Refusal("frame/order", `${bytes.length - at} bytes follow the seal`)
        const piece = bytes.subarray(at, at + this.step.needs - this.filled)
        this.pending.set(piece, this.filled)
        this.filled += piece.length
        at += piece.length
        if (this.filled === this.step.needs) for (const record of await this.advance()) found.push(record)
      }
      return found
    })
  }

  /** Ends the frame. It is whole, and its records may be shown. */
  sealed(): Effect.Effect<FrameEnd, FrameRefused> {
    return this.refusing(async () => {
      if (this.end === undefined) throw new Refusal("frame/unsealed", `no seal follows ${this.chunks} chunks`)
      return this.end
    })
  }

  private refusing<A>(body: () => Promise<A>): Effect.Effect<A, FrameRefused> {
    return Effect.tryPromise({
      try: () => this.refused === undefined ? body() : Promise.reject(this.refused),
      catch: (error) => {
        if (error instanceof FrameRefused) return error
        if (!(error instanceof Refusal)) throw error
        return this.refuse(error)
      }
    })
  }

  /** Takes the bytes that the step waited for. */
  private async advance(): Promise<Iterable<FrameRecord>> {
    const { step } = this
    const bytes = this.pending.subarray(0, step.needs)
    this.consumed += step.needs
    if (step.at === "chunk") return this.chunk(step.numbers, bytes)
    if (step.at === "opening") this.opening(bytes)
    else if (step.at === "header") this.head(bytes)
    else this.next(Chunk.numbers(bytes))
    return []
  }

  private opening(bytes: Uint8Array): void {
    if (!Chunk.MAGIC.every((byte, i) => bytes[i] === byte)) throw new Refusal("frame/magic", "it does not begin with SYF1")
    const length = Chunk.lengthOf(bytes)
    if (length > Header.MAX_HEADER) throw new Refusal("frame/bounds", `its header has ${length} bytes, more than ${Header.MAX_HEADER}`)
    // The header is kept behind these bytes, since the chain begins with both.
    this.step = { at: "header", needs: Chunk.OPENING + length }
    this.consumed = 0
    if (length === 0) throw new Refusal("frame/magic", "it has no header")
  }

  private head(bytes: Uint8Array): void {
    this.read = Header.decode(bytes.subarray(Chunk.OPENING))
    this.digest = Chunk.first(this.hash, bytes)
    this.begin()
  }

  private begin(): void {
    this.step = numbers
    this.filled = 0
    this.offset = this.consumed
  }

  private next(found: Chunk.Numbers): void {
    const { raw, seq, stored, type } = found
    this.chunks++
    const isSeal = type === Chunk.SEAL
    if (!isSeal && Record.typeOf(type) === undefined) throw new Refusal("frame/unknown", `its type is ${type}`)
    if (seq !== this.chunks) throw new Refusal("frame/order", `its number is ${seq} in place of ${this.chunks}`)
    if (raw > Chunk.MAX_RAW || raw === 0) throw new Refusal("frame/bounds", `it has ${raw} bytes; 1 to ${Chunk.MAX_RAW} are allowed`)
    if (stored > raw) throw new Refusal("frame/bounds", `its ${raw} bytes take ${stored} in the frame`)
    if (stored < raw && (isSeal || !Capability.has(this.known.caps, "deflate"))) {
      throw new Refusal("frame/bounds", "it is compressed, and may not be")
    }
    this.step = { at: "chunk", needs: stored + Chunk.DIGEST, numbers: found }
    this.filled = 0
  }

  private async chunk({ raw: size, seq, stored, type }: Chunk.Numbers, bytes: Uint8Array): Promise<Iterable<FrameRecord>> {
    const raw = stored < size ? await Deflate.decompress(bytes.subarray(0, stored), size) : bytes.slice(0, stored)
    if (raw === undefined) throw new Refusal("frame/bounds", `it does not become ${size} bytes`)
    const name = Record.typeOf(type)
    if (name === undefined) return this.seal(raw, Chunk.digestAt(bytes, stored))
    this.link({ type, seq, raw }, Chunk.digestAt(bytes, stored))
    this.bytes += size
    const found = this.recordsOf(name, raw)
    this.begin()
    return found
  }

  private recordsOf(type: keyof typeof Record.types, raw: Uint8Array): ReadonlyArray<FrameRecord> {
    const found: Array<FrameRecord> = []
    for (const record of Record.decode(type, raw)) {
      this.assembly.take(record)
      if (record.type !== "part") this.records++
      found.push(record)
    }
    return found
  }

  /** Adds a chunk to the chain, if it has the digest that it says. */
  private link(chunk: Omit<Chunk.Chunk, "digest">, said: string): void {
    const digest = Chunk.after(this.hash, this.digest, chunk)
    if (digest !== said) throw new Refusal("frame/changed", "its digest differs")
    this.digest = digest
  }

  private async seal(raw: Uint8Array, said: string): Promise<ReadonlyArray<FrameRecord>> {
    this.assembly.end()
    const { bytes, chunks, records } = this
    const { caps, head } = this.known
    const totals: Seal.Totals = { chunks: chunks - 1, records, bytes, head }
    const signature = Capability.has(caps, "signed") ? Seal.signatureIn(raw, totals) : undefined
    const unsigned = Seal.encode(totals)
    if (signature === undefined) Seal.check(raw, unsigned)
    this.link({ type: Chunk.SEAL, seq: chunks, raw: unsigned }, said)
    if (signature !== undefined && !await Signature.isOf(signature, this.digest)) {
      throw new Refusal("frame/signature", `its signature is not that of ${signature.key}`)
    }
    this.end = { ...totals, root: this.digest, signer: signature?.key }
    return []
  }
}
