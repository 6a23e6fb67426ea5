/**
 * Headers: validates a JPEG or PNG file and reads its metadata without decoding it.
 *
 * A file is untrusted. Its whole structure is checked first, at a cost bounded by its size. A file that could make a
 * decoder run without end is refused.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * The maximum number of pixels of an image.
 */
export const MAX_PIXELS = 40_000_000

/** The maximum number of scans of a progressive JPEG. Cameras and editors write about ten. */
const MAX_SCANS = 64

/** The maximum number of chunks of a PNG. */
const MAX_CHUNKS = 65_536

/**
 * A file, and its name in error messages.
 */
export interface Source {
  readonly name: string
  readonly bytes: Uint8Array
}

/**
 * The header of an image file.
 */
export interface Header {
  readonly format: "jpeg" | "png"
  /** The width of the stored pixels, before the orientation is applied. */
  readonly width: number
  readonly height: number
  /** The EXIF block, starting with its byte order mark. */
  readonly exif: Uint8Array | undefined
  /** The parts of the file for the decoder, in order. */
  readonly parts: Parts
}

/** The parts of a file: at least one. */
export type Parts = readonly [Uint8Array, ...ReadonlyArray<Uint8Array>]

/**
 * A file is not a valid image.
 */
export class NotAnImage extends Schema.TaggedError<NotAnImage>()("NotAnImage", { name: Schema.String, reason: Schema.String }) {
  readonly code = "image/unreadable"
  override get message() {
    return `${this.name} cannot be read as an image: ${this.reason}. Send a whole JPEG or PNG file`
  }
}

/**
 * An image has more than {@link MAX_PIXELS} pixels.
 */
export class ImageTooLarge extends Schema.TaggedError<ImageTooLarge>()("ImageTooLarge", {
  name: Schema.String,
  width: Schema.Number,
  height: Schema.Number
}) {
  readonly code = "image/too-large"
  override get message() {
    return `${this.name} has ${this.width} × ${this.height} pixels and the limit is ${MAX_PIXELS}. Send a smaller version`
  }
}

/**
 * Reads the header of a JPEG or PNG file.
 *
 * @throws NotAnImage
 * @throws ImageTooLarge
 */
export const read = (source: Source): Header => {
  const header = parse(source)
  const { width, height } = header
  if (width === 0 || height === 0) throw damaged(source, `its size is ${width} × ${height}`)
  if (width * height > MAX_PIXELS) throw new ImageTooLarge({ name: source.name, width, height })
  return header
}

const JPEG = [0xff, 0xd8, 0xff]
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

const parse = (source: Source): Header => {
  if (startsWith(source.bytes, JPEG)) return readJpeg(source)
  if (startsWith(source.bytes, PNG)) return readPng(source)
  const start = [...source.bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
  const found = start === "" ? "it is empty" : `its ${source.bytes.length} bytes start with ${start}`
  throw damaged(source, `${found}, where a JPEG file has ff d8 ff and a PNG file 89 50 4e 47`)
}

const startsWith = (bytes: Uint8Array, beginning: ReadonlyArray<number>): boolean => beginning.every((byte, i) => bytes[i] === byte)

const damaged = (source: Source, reason: string) => new NotAnImage({ name: source.name, reason })

const truncated = (source: Source, what: string) => damaged(source, `it breaks off in ${what} (${source.bytes.length} bytes are there)`)

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The fields of a JPEG read so far. */
interface JpegFrame {
  width: number
  height: number
  exif: Uint8Array | undefined
}

const readJpeg = (source: Source): Header => {
  const { bytes } = source
  const frame: JpegFrame = { width: -1, height: -1, exif: undefined }
  let scans = 0
  let offset = 2
  for (;;) {
    const marker = bytes[offset + 1]
    if (marker === undefined) throw truncated(source, "its headers")
    if (bytes[offset] !== 0xff) throw damaged(source, `it has no marker at byte ${offset}`)
    if (marker === 0xff) {
      offset += 1
      continue
    }
    if (marker === 0xd9) break
    const content = segmentContent(source, offset)
    readSegment(source, { marker, content }, frame)
    offset += 4 + content.length
    if (marker !== 0xda) continue
    if (++scans > MAX_SCANS) throw damaged(source, `it has more than ${MAX_SCANS} scans`)
    offset = endOfScan(source, offset)
  }
  if (frame.width < 0 || scans === 0) throw damaged(source, "it holds no picture")
  return { format: "jpeg", ...frame, parts: [bytes.subarray(0, offset + 2)] }
}

interface Segment {
  readonly marker: number
  readonly content: Uint8Array
}

const segmentContent = (source: Source, offset: number): Uint8Array => {
  const { bytes } = source
  const length = offset + 4 > bytes.length ? 0 : view(bytes).getUint16(offset + 2)
  if (length < 2 || offset + 2 + length > bytes.length) throw truncated(source, "its headers")
  return bytes.subarray(offset + 4, offset + 2 + length)
}

const EXIF = [0x45, 0x78, 0x69, 0x66, 0, 0]

const readSegment = (source: Source, { marker, content }: Segment, frame: JpegFrame): void => {
  if (marker === 0xe1 && startsWith(content, EXIF)) frame.exif ??= content.subarray(EXIF.length)
  const starts = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
  if (!starts) return
  if (marker > 0xc2) throw damaged(source, `it is a JPEG of the rare kind ${marker.toString(16)}, neither baseline nor progressive`)
  if (frame.width >= 0) throw damaged(source, "it holds more than one picture")
  if (content.length < 6) throw truncated(source, "its size")
  frame.height = view(content).getUint16(1)
  frame.width = view(content).getUint16(3)
}

/** The offset of the next marker. Inside a scan, ff is followed by 00 or by a restart marker. */
const endOfScan = (source: Source, from: number): number => {
  const { bytes } = source
  for (let offset = bytes.indexOf(0xff, from); offset !== -1; offset = bytes.indexOf(0xff, offset + 1)) {
    const next = bytes[offset + 1]
    if (next === undefined) break
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return offset
  }
  throw truncated(source, "its pixels")
}

const readPng = (source: Source): Header => {
  const { bytes } = source
  const data = view(bytes)
  const parts: [Uint8Array, ...Array<Uint8Array>] = [bytes.subarray(0, 8)]
  let exif: Uint8Array | undefined
  let offset = 8
  for (let chunks = 0; ; chunks++) {
    if (chunks === MAX_CHUNKS) throw damaged(source, `it has more than ${MAX_CHUNKS} chunks`)
    const end = offset + 12 > bytes.length ? Infinity : offset + 12 + data.getUint32(offset)
    if (end > bytes.length) throw truncated(source, "its chunks")
    const type = String.fromCharCode(...bytes.subarray(offset + 4, offset + 8))
    const content = bytes.subarray(offset + 8, end - 4)
    if ((chunks === 0) !== (type === "IHDR" && content.length === 13)) throw damaged(source, "it does not say its size once, at its start")
    if (type === "PLTE" && content.length > 768) throw damaged(source, "its palette has more than 256 colours")
    if (type === "eXIf") exif ??= content
    // Colour-key transparency (tRNS without a palette) is left out: the picture is shown opaque.
    const needed = isCritical(type) || (type === "tRNS" && bytes[25] === 3)
    if (needed) parts.push(bytes.subarray(offset, end))
    offset = end
    if (type === "IEND") return { format: "png", width: data.getUint32(16), height: data.getUint32(20), exif, parts }
  }
}

const isCritical = (type: string): boolean => type === "IHDR" || type === "PLTE" || type === "IDAT" || type === "IEND"
