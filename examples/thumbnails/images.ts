/**
 * Images: metadata, decoding and thumbnails, with pure JavaScript libraries.
 *
 * `jpeg-js` and `fast-png` use no native code, no WebAssembly and no files. A thumbnail is therefore the same to the byte
 * on Node, Deno, Bun and Cloudflare Workers, as a replay requires.
 *
 * @module
 */
import jpeg from "jpeg-js"
import * as Exif from "./exif.ts"
import * as Headers from "./headers.ts"
import * as Png from "./png.ts"
import { type Pixels, orient, resize } from "./resize.ts"

/** The JPEG quality of thumbnails, from 1 to 100. */
const QUALITY = 82

/** The memory limit of the JPEG decoder in MiB, enough for 40 megapixels without subsampling. */
const MAX_MEMORY = 832

/**
 * The metadata of an image, read from its header.
 */
export interface Metadata {
  readonly format: "jpeg" | "png"
  /** The width of the upright image. */
  readonly width: number
  readonly height: number
  /** The EXIF orientation of the stored pixels: 1 is upright, 6 needs a quarter turn clockwise. */
  readonly orientation: number
  readonly exif: Exif.Exif
}

/**
 * The stored pixels of an image, and their orientation.
 */
export interface Picture {
  /** The width of the upright image. */
  readonly width: number
  readonly pixels: Pixels
  readonly orientation: number
}

/**
 * A small upright JPEG of an image.
 */
export interface Thumbnail {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/**
 * Reads the metadata of an image without decoding it.
 *
 * @throws NotAnImage
 * @throws ImageTooLarge
 */
export const metadata = (source: Headers.Source): Metadata => {
  const { format, width, height, exif: block } = Headers.read(source)
  const { exif, orientation } = Exif.read(block)
  return orientation >= 5
    ? { format, width: height, height: width, orientation, exif }
    : { format, width, height, orientation, exif }
}

/**
 * Decodes an image, as the source of its thumbnails.
 *
 * @throws NotAnImage
 * @throws ImageTooLarge
 */
export const decode = (source: Headers.Source): Picture => {
  const header = Headers.read(source)
  const { orientation } = Exif.read(header.exif)
  const width = orientation >= 5 ? header.height : header.width
  try {
    return { width, pixels: header.format === "jpeg" ? decodeJpeg(header.parts) : Png.decode(header.parts), orientation }
  } catch (error) {
    throw new Headers.NotAnImage({ name: source.name, reason: `its ${header.format} data is damaged: ${(error as Error).message}` })
  }
}

const decodeJpeg = ([file]: Headers.Parts): Pixels => {
  const { width, height, data } = jpeg.decode(file, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    maxResolutionInMP: Headers.MAX_PIXELS / 1_000_000,
    maxMemoryUsageInMB: MAX_MEMORY
  })
  return { width, height, rgb: data }
}

/**
 * Makes an upright thumbnail with a width of at most `width` pixels. An image is never enlarged.
 */
export const thumbnail = ({ pixels, orientation, width: seen }: Picture, width: number): Thumbnail => {
  const scale = Math.min(1, width / seen)
  const scaled = (side: number) => Math.max(1, Math.round(side * scale))
  return encode(orient(resize(pixels, scaled(pixels.width), scaled(pixels.height)), orientation))
}

const encode = ({ width, height, rgb }: Pixels): Thumbnail => {
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (let i = 0; i < width * height; i++) rgba.set(rgb.subarray(i * 3, i * 3 + 3), i * 4)
  return { bytes: new Uint8Array(timeless(() => jpeg.encode({ width, height, data: rgba }, QUALITY)).data), width, height }
}

/** Calls a library that measures its own time, which no run can: for it, the clock stands at 0. */
const timeless = <A>(call: () => A): A => {
  const { Date: Clock } = globalThis
  globalThis.Date = class extends Clock {
    constructor() {
      super(0)
    }
  } as DateConstructor
  try {
    return call()
  } finally {
    globalThis.Date = Clock
  }
}
