/**
 * The records of a frame: a key and bytes. They lie whole in chunks, and each chunk has records of one type.
 *
 *     record := varint length  key  varint total  varint here  bytes[here]
 *     part   := varint length  key  varint ordinal  varint offset  varint here  bytes[here]
 *
 * A record with more than {@link MAX_WHOLE} bytes is divided: it has none itself (`here` is 0), and its parts follow it, in
 * their order.
 *
 * @module
 */
import { Refusal } from "./FrameRefused.ts"

/** The types of records, and so of chunks. */
export const types = {
  cell: 0x01,
  /** A part of the record before it. */
  part: 0x02,
  journal: 0x03,
  queue: 0x04,
  receipt: 0x05,
  observation: 0x06,
  /** A signal or an answer. */
  message: 0x07,
  change: 0x08,
  /** Content by its digest: with its bytes, or its size alone. */
  content: 0x09,
  /** The offsets of the types. */
  contents: 0xfe
} as const

/** A type of records. */
export type Type = Exclude<keyof typeof types, "part">

const names = new Map(Object.entries(types).map(([name, type]) => [type as number, name as keyof typeof types]))

/** The type with a number; `undefined` for one that this version does not know. */
export const typeOf = (type: number): keyof typeof types | undefined => names.get(type)

/** The most bytes of a record that is not divided. */
export const MAX_WHOLE = 131_072

/** The most bytes of a key. */
export const MAX_KEY = 65_536

/** The most bytes of a divided record: 1 GiB. */
export const MAX_TOTAL = 2 ** 30

/** The most bytes of a divided record that a reader holds as a whole: the text of a row, or of a module. 64 MiB. */
export const MAX_HELD = 67_108_864

/** A record, whole in memory. */
export interface Record {
  readonly type: Type
  readonly key: string
  readonly bytes: Uint8Array
}

/** The beginning of a record as it lies in a chunk. It is whole if `here` are all bytes. */
export interface Owner {
  readonly type: Type
  readonly key: string
  readonly total: number
  readonly here: Uint8Array
}

/** A part of a divided record as it lies in a chunk. */
export interface Part {
  readonly type: "part"
  readonly key: string
  readonly ordinal: number
  readonly offset: number
  readonly here: Uint8Array
}

/** The most bytes of a number: 2 ** 42 - 1. */
const MAX_VARINT = 6

const varint = (value: number): ReadonlyArray<number> => {
  const bytes: Array<number> = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128)
  bytes.push(rest)
  return bytes
}

/** The bytes before those of a record: its key, and numbers. */
const headOf = (key: Uint8Array, numbers: ReadonlyArray<number>): Uint8Array => {
  const length = varint(key.length)
  const after = numbers.flatMap(varint)
  const head = new Uint8Array(length.length + key.length + after.length)
  head.set(length)
  head.set(key, length.length)
  head.set(after, length.length + key.length)
  return head
}

/** An encoded form of a record: the type of its chunk, and its bytes there in two pieces, so that long ones are not copied. */
export type EncodedRecord = readonly [type: number, head: Uint8Array, bytes: Uint8Array]

const nameOf = (key: string): Uint8Array => {
  const name = new TextEncoder().encode(key)
  if (name.length > MAX_KEY) throw new Refusal("frame/bounds", `a key has ${name.length} bytes, more than ${MAX_KEY}`)
  return name
}

/**
 * The encoded form of a record whose parts follow.
 *
 * @throws Refusal
 */
export const encodeOwner = ({ key, total, type }: Omit<Owner, "here">): EncodedRecord => {
  if (total > MAX_TOTAL) throw new Refusal("frame/bounds", `"${key}" has ${total} bytes, more than ${MAX_TOTAL}`)
  return [types[type], headOf(nameOf(key), [total, 0]), new Uint8Array()]
}

/**
 * The encoded parts of a divided record from some of its bytes, which begin at `from`: a multiple of {@link MAX_WHOLE}.
 *
 * @throws Refusal
 */
export const encodeParts = (key: string, bytes: Uint8Array, from = 0): ReadonlyArray<EncodedRecord> => {
  const name = nameOf(key)
  return Array.from({ length: Math.ceil(bytes.length / MAX_WHOLE) }, (_, i) => {
    const here = bytes.subarray(i * MAX_WHOLE, (i + 1) * MAX_WHOLE)
    const offset = from + i * MAX_WHOLE
    return [types.part, headOf(name, [offset / MAX_WHOLE, offset, here.length]), here]
  })
}

/**
 * The encoded forms of a record, in their order: itself, and its parts.
 *
 * @throws Refusal
 */
export const encode = ({ bytes, key, type }: Record): ReadonlyArray<EncodedRecord> =>
  bytes.length <= MAX_WHOLE
    ? [[types[type], headOf(nameOf(key), [bytes.length, bytes.length]), bytes]]
    : [encodeOwner({ type, key, total: bytes.length }), ...encodeParts(key, bytes)]

/** A position in the bytes of a chunk. */
class Reading {
  private readonly bytes: Uint8Array
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isOver(): boolean {
    return this.at >= this.bytes.length
  }

  number(): number {
    let value = 0
    for (let i = 0, scale = 1; i < MAX_VARINT; i++, scale *= 128) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) throw new Refusal("frame/bounds", "a number is cut off")
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new Refusal("frame/bounds", "a number has too many bytes")
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw new Refusal("frame/bounds", `${length} bytes of a record pass the end of its chunk`)
    return this.bytes.subarray(this.at, this.at += length)
  }

  text(length: number): string {
    if (length > MAX_KEY) throw new Refusal("frame/bounds", `a key has ${length} bytes, more than ${MAX_KEY}`)
    return textOf(this.take(length))
  }
}

/**
 * Bytes as text.
 *
 * @throws Refusal
 */
export const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal("frame/bounds", "a text is no UTF-8")
  }
}

/**
 * Reads the records of a chunk, one after another.
 *
 * @throws Refusal
 */
export function* decode(type: keyof typeof types, raw: Uint8Array): Generator<Owner | Part> {
  const reading = new Reading(raw)
  while (!reading.isOver) {
    const key = reading.text(reading.number())
    const count = reading.number()
    yield type === "part"
      ? { type, key, ordinal: count, offset: reading.number(), here: reading.take(reading.number()) }
      : { type, key, total: count, here: reading.take(reading.number()) }
  }
}

/** The state of an assembly between two records. */
interface Divided extends Owner {
  /** The ordinal of the next part, and the bytes before it. */
  next: number
  offset: number
}

/**
 * Checks that the parts of divided records follow them in order and are complete. It keeps no bytes.
 */
export class Assembly {
  private open: Divided | undefined

  /** Whether parts of a record are still to come. */
  get isOpen(): boolean {
    return this.open !== undefined
  }

  /**
   * Takes the next record.
   *
   * @throws Refusal
   */
  take(record: Owner | Part): void {
    if (record.type === "part") this.part(record)
    else this.owner(record)
  }

  /**
   * Ends the frame, or a chunk after which no record may be open.
   *
   * @throws Refusal
   */
  end(): void {
    if (this.open !== undefined) {
      throw new Refusal("frame/order", `"${this.open.key}" has ${this.open.offset} of ${this.open.total} bytes when the next record comes`)
    }
  }

  private owner(record: Owner): void {
    this.end()
    const { here, key, total } = record
    if (total > MAX_TOTAL) throw new Refusal("frame/bounds", `"${key}" announces ${total} bytes, more than ${MAX_TOTAL}`)
    if (here.length === total) return
    if (here.length > 0) throw new Refusal("frame/bounds", `"${key}" has ${here.length} of ${total} bytes; a divided record has none`)
    this.open = { ...record, next: 0, offset: 0 }
  }

  private part({ here, key, offset, ordinal }: Part): void {
    const { open } = this
    if (open === undefined || open.key !== key) throw new Refusal("frame/order", `a part of "${key}" comes where none is expected`)
    if (ordinal !== open.next || offset !== open.offset || here.length === 0 || offset + here.length > open.total) {
      const found = `part ${ordinal} at ${offset} with ${here.length} bytes`
      throw new Refusal("frame/order", `"${key}" has ${found}, after ${open.offset} of ${open.total} in ${open.next} parts`)
    }
    open.next++
    open.offset += here.length
    if (open.offset === open.total) this.open = undefined
  }
}
