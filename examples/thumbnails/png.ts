/**
 * PNG: decodes pixels of any depth and colour type to red, green and blue.
 *
 * @module
 */
import { type DecodedPng, convertIndexedToRgb, decode as decodePng } from "fast-png"
import { Unzlib } from "fflate"
import type { Pixels } from "./resize.ts"

/** The number of bytes inflated at a time. Each can inflate to about a thousand. */
const SLICE = 16_384

/** The maximum size of the samples in bytes: 40 megapixels of four bytes. */
const MAX_SAMPLES = 160_000_000

/**
 * Decodes the pixels of a PNG, blended over white if they are transparent.
 *
 * @throws Error if the file is damaged, of an unsupported type, or inflates to more than its declared size
 */
export const decode = (parts: ReadonlyArray<Uint8Array>): Pixels => {
  checkInflated(parts)
  const png = decodePng(join(parts), { checkCrc: true })
  const { width, height } = png
  const palette = png.palette ?? (png.depth < 8 ? greys(png.depth) : undefined)
  if (palette === undefined) return { width, height, rgb: toRgb(png.data, png.channels, png.depth === 16 ? 257 : 1) }
  return { width, height, rgb: toRgb(convertIndexedToRgb({ ...png, palette }), palette[0]?.length ?? 3, 1) }
}

const join = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** Refuses a file that the decoder would inflate without end or decode wrongly. */
const checkInflated = (parts: ReadonlyArray<Uint8Array>): void => {
  const [, header] = parts
  if (header === undefined) throw new Error("it has no header")
  const data = new DataView(header.buffer, header.byteOffset + 8, 13)
  const depth = data.getUint8(8)
  const interlaced = data.getUint8(12) !== 0
  if (interlaced && depth < 8) throw new Error("it is interlaced with fewer than 8 bits a sample, which is not read")
  const channels = [1, 0, 3, 1, 2, 0, 4][data.getUint8(9)] ?? 0
  const row = Math.ceil(data.getUint32(0) * channels * depth / 8)
  const samples = row * data.getUint32(4)
  if (samples > MAX_SAMPLES) throw new Error(`it has ${samples} bytes of samples and the limit is ${MAX_SAMPLES}`)
  // Each row has one byte more. An interlaced image has at most twice as many rows.
  const limit = samples + 2 * data.getUint32(4) + 16
  let inflated = 0
  const inflator = new Unzlib((chunk) => {
    inflated += chunk.length
  })
  for (const part of parts) {
    if (String.fromCharCode(...part.subarray(4, 8)) !== "IDAT") continue
    const content = part.subarray(8, part.length - 4)
    for (let offset = 0; offset < content.length; offset += SLICE) {
      inflator.push(content.subarray(offset, offset + SLICE))
      if (inflated > limit) throw new Error("it inflates to more than its size asks for")
    }
  }
  if (inflated < samples) throw new Error("it inflates to less than its size asks for")
}

/** The palette of a greyscale image with 1, 2 or 4 bits per sample. */
const greys = (depth: number): Array<Array<number>> => {
  const steps = 2 ** depth - 1
  return Array.from({ length: steps + 1 }, (_, i) => [i * 255 / steps, i * 255 / steps, i * 255 / steps])
}

/** Converts one to four channels (grey, grey and alpha, colour, colour and alpha) to three, blended over white. */
const toRgb = (samples: DecodedPng["data"], channels: number, unit: number): Uint8Array => {
  const pixels = samples.length / channels
  const hasAlpha = channels === 2 || channels === 4
  const rgb = new Uint8Array(pixels * 3)
  const sample = (at: number): number => samples[at]! / unit
  for (let i = 0; i < pixels; i++) {
    const alpha = hasAlpha ? sample((i + 1) * channels - 1) / 255 : 1
    for (let c = 0; c < 3; c++) {
      const value = sample(i * channels + (channels >= 3 ? c : 0))
      rgb[i * 3 + c] = 255 + (value - 255) * alpha + 0.5
    }
  }
  return rgb
}
