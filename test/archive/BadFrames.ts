/**
 * Frames that no importer takes, made of one that is whole.
 *
 * @module
 */
import { concat } from "../../src/cell/Bytes.ts"
import * as Capability from "../../src/frame/Capability.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import type { Code } from "../../src/frame/FrameRefused.ts"
import type * as Header from "../../src/frame/Header.ts"
import type { Record } from "../../src/frame/Record.ts"
import { deflateRawSync } from "node:zlib"
import { forged, hash, header, record, whole, write } from "../frame/Frames.ts"
import { present } from "../support/Present.ts"
import * as Spaces from "./Spaces.ts"

/** A frame that is refused, and the codes by which it may be. */
export interface BadFrame {
  readonly name: string
  readonly bytes: Uint8Array
  readonly codes: ReadonlyArray<Code>
}

/** The opening and the chunks of a frame. */
const piecesOf = (frame: Uint8Array): ReadonlyArray<Uint8Array> => {
  const starts = [0]
  while (Spaces.atChunk(frame, starts.length) < frame.length) starts.push(Spaces.atChunk(frame, starts.length))
  return starts.map((start, i) => frame.subarray(start, starts[i + 1]))
}

/** The codes of a frame with a changed byte. */
const ANY: ReadonlyArray<Code> = ["frame/magic", "frame/unknown", "frame/order", "frame/changed", "frame/unsealed", "frame/bounds"]

/** A frame with another bit at each of these places, made one after the other. */
export function* flipped(frame: Uint8Array, places: ReadonlyArray<number>): Generator<BadFrame> {
  for (const at of places) {
    const bytes = frame.slice()
    bytes[at] = (bytes[at] ?? 0) ^ 1 << at % 8
    yield { name: `byte ${at} is changed`, bytes, codes: ANY }
  }
}

/** A frame that ends at each of these lengths. */
export function* cut(frame: Uint8Array, lengths: ReadonlyArray<number>): Generator<BadFrame> {
  for (const length of lengths) yield { name: `it ends after ${length} bytes`, bytes: frame.subarray(0, length), codes: ["frame/unsealed"] }
}

/** A frame with its chunks in another order, and with those of another frame. */
export const exchanged = (frame: Uint8Array, other: Uint8Array): ReadonlyArray<BadFrame> => {
  const pieces = piecesOf(frame)
  const others = piecesOf(other)
  return pieces.slice(1, -1).flatMap((piece, i): ReadonlyArray<BadFrame> => {
    const at = i + 1
    const [before, next, rest] = [pieces.slice(0, at), present(pieces[at + 1]), pieces.slice(at + 2)]
    const named = (name: string, list: ReadonlyArray<Uint8Array>, ...codes: ReadonlyArray<Code>): BadFrame =>
      ({ name: `chunk ${at} ${name}`, bytes: concat(list), codes })
    return [
      named("is left out", [...before, next, ...rest], "frame/order"),
      named("comes twice", [...before, piece, piece, next, ...rest], "frame/order"),
      named("comes later", [...before, next, piece, ...rest], "frame/order"),
      ...others[at] === undefined || at + 1 >= others.length
        ? []
        : [named("is that of another frame", [...before, others[at], next, ...rest], "frame/changed", "frame/order", "frame/unknown")]
    ]
  })
}

/** Frames beyond a limit, or of a version to come: their headers and first chunks are refused, however much follows. */
export const beyond = async (): Promise<ReadonlyArray<BadFrame>> => {
  const huge = Chunk.opening(new Uint8Array())
  new DataView(huge.buffer).setUint32(Chunk.MAGIC.length, 2 ** 30)
  const { pieces } = await write([], { caps: Capability.of(["deflate"]) })
  const opening = present(pieces[0])
  const first = Chunk.first(hash, opening)
  const chunk = (raw: Uint8Array, stored: Uint8Array) => concat([opening, forged(first, { type: 1, seq: 1, raw, stored })])
  const bomb = deflateRawSync(new Uint8Array(64 * 1_048_576))
  const headed = (fields: Partial<{ readonly [K in keyof Header.Header]: unknown }>) =>
    Chunk.opening(new TextEncoder().encode(JSON.stringify({ ...header, ...fields })))
  return [
    { name: "its header has 1 GiB", bytes: huge, codes: ["frame/bounds"] },
    { name: "a chunk becomes 64 MiB", bytes: chunk(new Uint8Array(Chunk.MAX_RAW), bomb), codes: ["frame/bounds"] },
    { name: "a chunk is above 256 KiB", bytes: chunk(new Uint8Array(Chunk.MAX_RAW + 1), new Uint8Array(9)), codes: ["frame/bounds"] },
    { name: "it is of a newer version", bytes: headed({ v: 2 }), codes: ["frame/unknown"] },
    { name: "it has a feature of a newer version", bytes: headed({ features: ["teleport"] }), codes: ["frame/unknown"] },
    { name: "it needs an unknown capability", bytes: headed({ caps: 2 ** 31 }), codes: ["frame/unknown"] },
    { name: "it is a batch of signals", bytes: headed({ kind: "batch" }), codes: ["frame/unknown"] },
    { name: "it is a range", bytes: headed({ kind: "range" }), codes: ["frame/order"] },
    { name: "it is another file", bytes: new TextEncoder().encode("SQLite format 3\0 and more"), codes: ["frame/magic"] },
    { name: "it is empty", bytes: new Uint8Array(), codes: ["frame/unsealed"] }
  ]
}

/** A change of the records of a frame, which is sealed again. */
type Change = (records: ReadonlyArray<Record>) => ReadonlyArray<Record>

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const oneOf = (type: Record["type"], change: (one: Record) => ReadonlyArray<Record>): Change => (records) => {
  const at = records.findLastIndex((each) => each.type === type)
  return [...records.slice(0, at), ...change(present(records[at])), ...records.slice(at + 1)]
}

const changes: ReadonlyArray<readonly [name: string, change: Change, code: Code]> = [
  ["a beat of its journal has another text",
    oneOf("journal", (one) => [record("journal", one.key, `${text(one.bytes)} `)]), "frame/changed"],
  ["its newest beat is missing", oneOf("journal", () => []), "frame/changed"],
  ["a beat comes twice", oneOf("journal", (one) => [one, one]), "frame/order"],
  ["a key is no address", oneOf("cell", (one) => [record("cell", "no address", text(one.bytes))]), "frame/bounds"],
  ["a waiting signal is none", oneOf("queue", (one) => [record("queue", one.key, "null\nnothing")]), "frame/bounds"],
  ["a receipt is none", oneOf("receipt", () => [record("receipt", "[]", "{}")]), "frame/bounds"],
  ["content has another digest", (records) => [...records, record("content", "ab".repeat(32), "x")], "frame/changed"],
  ["a record names no content", (records) => [...records, record("content", "/etc/passwd", "x")], "frame/bounds"]
]

/** Frames that were sealed anew after a change: their chain of digests fits, and their rows do not. */
export const sealedAnew = async (frame: Uint8Array): Promise<ReadonlyArray<BadFrame>> => {
  const records = await Spaces.recordsOf(frame)
  return Promise.all(changes.map(async ([name, change, code]) =>
    ({ name, bytes: whole(await write(change(records), Spaces.headerOf(frame))), codes: [code] })))
}
