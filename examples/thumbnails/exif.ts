/**
 * EXIF: the metadata that a camera stores in an image.
 *
 * Only the fields of the gallery are read, each at most once and with bounded length. A block with cyclic references or
 * false counts therefore costs no more than a valid one.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/** The maximum number of fields read of one directory. */
const MAX_FIELDS = 512

/** The maximum length of a text, in characters. */
const MAX_TEXT = 128

/**
 * The EXIF fields of an image. Fields missing in the file are absent.
 */
export const Exif = Schema.Struct({
  make: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  lens: Schema.optionalKey(Schema.String),
  software: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  artist: Schema.optionalKey(Schema.String),
  copyright: Schema.optionalKey(Schema.String),
  /** The camera's local time, as `2018-03-19T16:38:28`. */
  taken: Schema.optionalKey(Schema.String),
  exposureSeconds: Schema.optionalKey(Schema.Number),
  aperture: Schema.optionalKey(Schema.Number),
  iso: Schema.optionalKey(Schema.Number),
  focalLengthMm: Schema.optionalKey(Schema.Number),
  latitude: Schema.optionalKey(Schema.Number),
  longitude: Schema.optionalKey(Schema.Number)
})

/**
 * The EXIF fields of an image.
 */
export type Exif = typeof Exif.Type

/**
 * The fields of a block, and the EXIF orientation of the image: 1 to 8, where 1 is upright.
 */
export interface Reading {
  readonly exif: Exif
  readonly orientation: number
}

/**
 * Reads an EXIF block. Missing and invalid fields are omitted.
 */
export const read = (block: Uint8Array | undefined): Reading => {
  const tiff = block === undefined ? undefined : open(block)
  if (tiff === undefined) return { exif: {}, orientation: 1 }
  const image = directory(tiff, tiff.u32(4))
  const photo = directory(tiff, number(image.get(0x8769)))
  const gps = directory(tiff, number(image.get(0x8825)))
  const tag = (id: number) => photo.get(id) ?? image.get(id)
  const orientation = number(image.get(0x0112))
  const fields = {
    make: text(image.get(0x010f)),
    model: text(image.get(0x0110)),
    lens: text(tag(0xa434)),
    software: text(image.get(0x0131)),
    description: text(image.get(0x010e)),
    artist: text(image.get(0x013b)),
    copyright: text(image.get(0x8298)),
    taken: moment(text(tag(0x9003)) ?? text(tag(0x9004)) ?? text(image.get(0x0132))),
    exposureSeconds: positive(tag(0x829a)),
    aperture: positive(tag(0x829d)),
    iso: positive(tag(0x8827)),
    focalLengthMm: positive(tag(0x920a)),
    latitude: degrees(gps.get(2), text(gps.get(1)), 90),
    longitude: degrees(gps.get(4), text(gps.get(3)), 180)
  }
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  const upright = orientation === undefined || !Number.isInteger(orientation) || orientation < 1 || orientation > 8
  return { exif: Object.fromEntries(known), orientation: upright ? 1 : orientation }
}

/** The value of a field: a text, or up to four numbers. */
type Field = string | ReadonlyArray<number>

/** A block with its byte order. Reads outside the block return 0. */
interface Tiff {
  readonly bytes: Uint8Array
  readonly u16: (offset: number) => number
  readonly u32: (offset: number) => number
}

const open = (bytes: Uint8Array): Tiff | undefined => {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const little = bytes[0] === 0x49
  const tiff: Tiff = {
    bytes,
    u16: (offset) => offset + 2 <= bytes.length ? data.getUint16(offset, little) : 0,
    u32: (offset) => offset + 4 <= bytes.length ? data.getUint32(offset, little) : 0
  }
  return bytes[0] === bytes[1] && (little || bytes[0] === 0x4d) && tiff.u16(2) === 42 ? tiff : undefined
}

const directory = (tiff: Tiff, offset: number | undefined): ReadonlyMap<number, Field> => {
  const fields = new Map<number, Field>()
  if (offset === undefined || offset < 8 || offset + 2 > tiff.bytes.length) return fields
  const count = Math.min(tiff.u16(offset), MAX_FIELDS)
  for (let i = 0; i < count; i++) {
    const entry = offset + 2 + i * 12
    if (entry + 12 > tiff.bytes.length) break
    const value = field(tiff, entry)
    if (value !== undefined) fields.set(tiff.u16(entry), value)
  }
  return fields
}

/** The size of a value in bytes, by type: text, short, long, rational. */
const sizes: Readonly<Record<number, number>> = { 2: 1, 3: 2, 4: 4, 5: 8 }

const field = (tiff: Tiff, entry: number): Field | undefined => {
  const type = tiff.u16(entry + 2)
  const count = tiff.u32(entry + 4)
  const size = sizes[type]
  if (size === undefined || count === 0) return undefined
  const start = size * count <= 4 ? entry + 8 : tiff.u32(entry + 8)
  if (start + size * count > tiff.bytes.length) return undefined
  if (type === 2) return decodeText(tiff.bytes.subarray(start, start + Math.min(count, 4 * MAX_TEXT)))
  return Array.from({ length: Math.min(count, 4) }, (_, i) => {
    const at = start + i * size
    if (type === 3) return tiff.u16(at)
    return type === 4 ? tiff.u32(at) : tiff.u32(at) / tiff.u32(at + 4)
  })
}

// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]+/g

/** The text up to its first NUL, with control characters replaced by spaces. */
const decodeText = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0)
  const decoded = new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end))
  return [...decoded.replace(control, " ").trim()].slice(0, MAX_TEXT).join("")
}

const text = (value: Field | undefined): string | undefined => typeof value === "string" && value !== "" ? value : undefined

const number = (value: Field | undefined): number | undefined => {
  const first = typeof value === "object" ? value[0] : undefined
  return Number.isFinite(first) ? first : undefined
}

/** A positive quantity. Cameras write 0 for an unknown one. */
const positive = (value: Field | undefined): number | undefined => {
  const found = number(value)
  return found !== undefined && found > 0 ? found : undefined
}

const moment = (stamp: string | undefined): string | undefined => {
  const parts = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d)/.exec(stamp ?? "")
  return parts === null || parts[1] === "0000" ? undefined : `${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}`
}

/** Degrees, minutes and seconds as one number; south and west are negative. */
const degrees = (value: Field | undefined, side: string | undefined, limit: number): number | undefined => {
  if (typeof value !== "object" || value.length < 3 || side === undefined) return undefined
  const [whole, minutes, seconds] = value as readonly [number, number, number]
  // Rounded to 0.00001 degrees, about one metre. Further digits are noise.
  const angle = Math.round((whole + minutes / 60 + seconds / 3600) * 100_000) / 100_000
  if (!(angle <= limit)) return undefined
  return side === "S" || side === "W" ? 0 - angle : angle
}
