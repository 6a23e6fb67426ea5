/**
 * Scales an image down by area averaging, and applies its orientation.
 *
 * Each pixel of the result is the average of the area that it covers. Only + − × ÷ are used, so every host computes the
 * same bytes.
 *
 * @module
 */

/**
 * Pixels in rows from the top left, three bytes each: red, green, blue.
 */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
}

/**
 * Scales an image down. The new size must not exceed the old one.
 */
export const resize = (picture: Pixels, width: number, height: number): Pixels => {
  const narrow = squeeze(picture.rgb, { lines: picture.height, from: picture.width, to: width, step: 3, stride: picture.width * 3 })
  // The first pass transposes the image, and the second transposes it back.
  const small = squeeze(narrow, { lines: width, from: picture.height, to: height, step: 3, stride: picture.height * 3 })
  return { width, height, rgb: Uint8Array.from(small, (value) => value + 0.5) }
}

/** Lines of pixels that are scaled from the length `from` to the length `to`. */
interface Lines {
  readonly lines: number
  readonly from: number
  readonly to: number
  readonly step: number
  readonly stride: number
}

/** Averages along each line, and returns the result transposed. */
const squeeze = (source: Uint8Array | Float32Array, { lines, from, to, step, stride }: Lines): Float32Array => {
  const result = new Float32Array(lines * to * step)
  const scale = from / to
  const sample = (at: number): number => source[at]!
  for (let i = 0; i < to; i++) {
    const start = i * scale
    const end = Math.min(start + scale, from)
    for (let line = 0; line < lines; line++) {
      let red = 0
      let green = 0
      let blue = 0
      for (let j = Math.floor(start); j < end; j++) {
        const share = Math.min(j + 1, end) - Math.max(j, start)
        const at = line * stride + j * step
        red += share * sample(at)
        green += share * sample(at + 1)
        blue += share * sample(at + 2)
      }
      const at = (i * lines + line) * step
      result[at] = red / scale
      result[at + 1] = green / scale
      result[at + 2] = blue / scale
    }
  }
  return result
}

/**
 * Turns an image upright, for an EXIF orientation from 1 to 8.
 */
export const orient = (picture: Pixels, orientation: number): Pixels => {
  if (orientation === 1) return picture
  const turned = orientation >= 5
  const width = turned ? picture.height : picture.width
  const height = turned ? picture.width : picture.height
  const fromRight = orientation === 2 || orientation === 3 || orientation === 7 || orientation === 8
  const fromBottom = orientation === 3 || orientation === 4 || orientation === 6 || orientation === 7
  const rgb = new Uint8Array(picture.rgb.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [column, row] = turned ? [y, x] : [x, y]
      const fromX = fromRight ? picture.width - 1 - column : column
      const fromY = fromBottom ? picture.height - 1 - row : row
      const from = (fromY * picture.width + fromX) * 3
      rgb.set(picture.rgb.subarray(from, from + 3), (y * width + x) * 3)
    }
  }
  return { width, height, rgb }
}
