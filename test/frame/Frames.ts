/**
 * Frames for tests: written and read at once.
 *
 * @module
 */
import { Effect, Result } from "effect"
import { createHash } from "node:crypto"
import type { Hash } from "systole"
import { concat } from "../../src/cell/Bytes.ts"
import * as Capability from "../../src/frame/Capability.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import type { FrameRefused } from "../../src/frame/FrameRefused.ts"
import { FrameReader, type FrameRecord, type FrameEnd } from "../../src/frame/FrameReader.ts"
import { FrameWriter } from "../../src/frame/FrameWriter.ts"
import type { Header } from "../../src/frame/Header.ts"
import type { Record } from "../../src/frame/Record.ts"
import { present } from "../support/Present.ts"

export const hash: Hash["Service"] = {
  hex: (data) => createHash("sha256").update(data).digest("hex"),
  start: () => {
    const hash = createHash("sha256")
    return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") }
  }
}

export const header: Header = {
  v: 1,
  kind: "snapshot",
  space: "shop",
  origin: "shop.1",
  from: -1,
  to: 7,
  head: { beat: 7, hash: "ab".repeat(32) },
  anchor: { beat: -1, hash: "" },
  format: 10,
  caps: 0,
  features: [],
  clock: 1000
}

/** A record of a type with a text. */
export const record = (type: Record["type"], key: string, text: string): Record => ({ type, key, bytes: new TextEncoder().encode(text) })

/** A frame as its pieces: the opening and the chunks as they lie in it. */
export interface Written {
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly chunks: ReadonlyArray<Chunk.Chunk>
  readonly root: string
}

/** Writes a frame. */
export const write = async (records: ReadonlyArray<Record>, fields: Partial<Header> = {}): Promise<Written> => {
  const writer = new FrameWriter({ ...header, ...fields }, hash)
  const chunks = [...records.flatMap((each) => writer.add(each)), ...await writer.seal()]
  const pieces = [writer.opening, ...await Promise.all(chunks.map((chunk) => writer.encode(chunk)))]
  return { pieces, chunks, root: present(chunks.at(-1)).digest }
}

/** Writes a frame with compressed chunks. */
export const compressed = (records: ReadonlyArray<Record>): Promise<Written> => write(records, { caps: Capability.of(["deflate"]) })

/** The outcome of reading: what was handed on, and the seal or the refusal. */
export interface Outcome {
  readonly found: ReadonlyArray<FrameRecord>
  readonly end: FrameEnd | FrameRefused
}

/** Reads bytes in pieces of a size. */
export const read = async (bytes: Uint8Array, size = bytes.length): Promise<Outcome> => {
  const reader = new FrameReader(hash)
  const found: Array<FrameRecord> = []
  const fed = Effect.gen(function*() {
    for (let at = 0; at < bytes.length; at += size) found.push(...yield* reader.feed(bytes.subarray(at, at + size)))
    return yield* reader.sealed()
  })
  return { found, end: Result.merge(await Effect.runPromise(Effect.result(fed))) }
}

/** The code of a refusal; `undefined` for a frame that was read. */
export const codeOf = ({ end }: Outcome): string | undefined => "code" in end ? end.code : undefined

/** The whole frame. */
export const whole = ({ pieces }: Pick<Written, "pieces">): Uint8Array => concat(pieces)

/** The places at which the chunks of a frame begin; the first one after the header. */
export const places = (bytes: Uint8Array): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = Chunk.OPENING + Chunk.lengthOf(bytes); at < bytes.length;) {
    found.push(at)
    at += Chunk.HEAD + Chunk.numbers(bytes.subarray(at)).stored + Chunk.DIGEST
  }
  return found
}

/** A chunk with changed numbers, of any type and content, with a digest that fits after another. */
export const forged = (
  previous: string,
  { raw, seq, stored = raw, type }: { readonly type: number; readonly seq: number; readonly raw: Uint8Array; readonly stored?: Uint8Array }
): Uint8Array => Chunk.encode({ type, seq, raw, digest: Chunk.after(hash, previous, { type, seq, raw }) }, stored)
