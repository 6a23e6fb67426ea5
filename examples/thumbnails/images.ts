/**
 * Images: all that the enzymes do with them, over plain JavaScript libraries.
 *
 * `jpeg-js` and `fast-png` need nothing of their host: no native code, no
 * WebAssembly to load, no file. So the same thumbnail comes out, byte by byte,
 * on Node, Deno, Bun and Cloudflare Workers, which is what a replay compares.
 *
 * @module
 */
import jpeg from "jpeg-js"
import * as Exif from "./exif.ts"
import * as Headers from "./headers.ts"
import * as Png from "./png.ts"
import { type Pixels, orient, resize } from "./resize.ts"

/** How much of a thumbnail's detail is kept, from 1 to 100. */
const QUALITY = 82

/** Mebibytes that decoding a JPEG may take: 40 megapixels without subsampling. */
const MAX_MEMORY = 832

/**
 * What an image is, learnt from its header alone.
 *
 * @category models
 * @since 0.1.0
 */
export interface Metadata {
  readonly format: "jpeg" | "png"
  /** As the image is seen, once it is turned upright. */
  readonly width: number
  readonly height: number
  /** How it is stored, as EXIF numbers it: 1 is upright, 6 wants a quarter turn to the right. */
  readonly orientation: number
  readonly exif: Exif.Exif
}

/**
 * An image's pixels as they are stored, and how they have to be turned.
 *
 * @category models
 * @since 0.1.0
 */
export interface Picture {
  /** How wide it is, as it is seen. */
  readonly width: number
  readonly pixels: Pixels
  readonly orientation: number
}

/**
 * A small upright JPEG of a picture.
 *
 * @category models
 * @since 0.1.0
 */
export interface Thumbnail {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/**
 * What an image is. Decodes no pixel.
 *
 * @throws NotAnImage
 * @throws ImageTooLarge
 * @category getters
 * @since 0.1.0
 */
export const metadata = (source: Headers.Source): Metadata => {
  const { format, width, height, exif: block } = Headers.read(source)
  const { exif, orientation } = Exif.read(block)
  return orientation >= 5
    ? { format, width: height, height: width, orientation, exif }
    : { format, width, height, orientation, exif }
}

/**
 * An image's pixels, for as many thumbnails as are wanted.
 *
 * @throws NotAnImage
 * @throws ImageTooLarge
 * @category constructors
 * @since 0.1.0
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

const decodeJpeg = (parts: ReadonlyArray<Uint8Array>): Pixels => {
  const { width, height, data } = jpeg.decode(parts[0]!, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    maxResolutionInMP: Headers.MAX_PIXELS / 1_000_000,
    maxMemoryUsageInMB: MAX_MEMORY
  })
  return { width, height, rgb: data }
}

/**
 * A picture's thumbnail, upright and at most `width` pixels wide; it is never enlarged.
 *
 * @category constructors
 * @since 0.1.0
 */
export const thumbnail = ({ pixels, orientation, width: seen }: Picture, width: number): Thumbnail => {
  const scale = Math.min(1, width / seen)
  const scaled = (side: number) => Math.max(1, Math.round(side * scale))
  return encode(orient(resize(pixels, scaled(pixels.width), scaled(pixels.height)), orientation))
}

const encode = ({ width, height, rgb }: Pixels): Thumbnail => {
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (let i = 0; i < width * height; i++) rgba.set(rgb.subarray(i * 3, i * 3 + 3), i * 4)
  return { bytes: new Uint8Array(jpeg.encode({ width, height, data: rgba }, QUALITY).data), width, height }
}
