/**
 * Test files: the photographs of this example, and generated files.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import jpeg from "jpeg-js"
import type { Source } from "../headers.ts"

/** A photograph in the folder `photos`. */
export const photo = (name: string): Source => ({
  name,
  bytes: new Uint8Array(readFileSync(new URL(`../photos/${name}`, import.meta.url)))
})

/** A file that concatenates these bytes. */
export const file = (...parts: ReadonlyArray<Uint8Array | ReadonlyArray<number>>): Source => ({
  name: "upload",
  bytes: Uint8Array.from(parts.flatMap((part) => [...part]))
})

/** A number in big-endian order. */
export const big = (value: number, bytes: number): ReadonlyArray<number> =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) % 256)

/** A segment of a JPEG. */
export const segment = (marker: number, content: ReadonlyArray<number>): ReadonlyArray<number> => [
  0xff,
  marker,
  ...big(content.length + 2, 2),
  ...content
]

/** A chunk of a PNG, with the checksum 0. */
export const chunk = (type: string, content: Uint8Array | ReadonlyArray<number>): ReadonlyArray<number> => [
  ...big(content.length, 4),
  ...new TextEncoder().encode(type),
  ...content,
  ...big(0, 4)
]

/** The signature of a PNG. */
export const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** The header of a greyscale PNG with 8 bits per sample. */
export const pngSize = (width: number, height: number) => chunk("IHDR", [...big(width, 4), ...big(height, 4), 8, 0, 0, 0, 0])

/** A field of an EXIF directory; `value` is its last four bytes. */
export interface Field {
  readonly tag: number
  readonly type: number
  readonly count: number
  readonly value: ReadonlyArray<number>
}

/** An EXIF directory without a successor. */
export const directory = (...fields: ReadonlyArray<Field>): ReadonlyArray<number> => [
  ...big(fields.length, 2),
  ...fields.flatMap(({ tag, type, count, value }) => [...big(tag, 2), ...big(type, 2), ...big(count, 4), ...value]),
  ...big(0, 4)
]

/** An EXIF block with one directory at byte 8, followed by `after`. */
export const exif = (fields: ReadonlyArray<Field>, after: ReadonlyArray<number> = []): Uint8Array =>
  Uint8Array.from([0x4d, 0x4d, 0, 42, 0, 0, 0, 8, ...directory(...fields), ...after])

/** Inserts an EXIF block at the start of a JPEG. */
export const withExif = (source: Source, block: Uint8Array): Source =>
  file([0xff, 0xd8], segment(0xe1, [0x45, 0x78, 0x69, 0x66, 0, 0, ...block]), source.bytes.subarray(2))

/** A JPEG with a red left half and a blue right half. */
export const redAndBlue = (width: number, height: number): Source => {
  const data = new Uint8Array(width * height * 4)
  for (let i = 0; i < width * height; i++) data.set(i % width < width / 2 ? [255, 0, 0, 255] : [0, 0, 255, 255], i * 4)
  return { name: "upload", bytes: new Uint8Array(jpeg.encode({ width, height, data }, 95).data) }
}
