/**
 * Resizing: a picture made smaller, every pixel of it counted.
 *
 * Each pixel of the result is the average of the area that it covers, and only
 * + − × ÷ are used, so every host computes the same bytes.
 *
 * @module
 */

/**
 * Pixels in rows from the top left, three bytes each: red, green, blue.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
}

/**
 * The picture at a size that is not larger than its own.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resize = (picture: Pixels, width: number, height: number): Pixels => {
  const narrow = squeeze(picture.rgb, { lines: picture.height, from: picture.width, to: width, step: 3, stride: picture.width * 3 })
  // The first pass leaves its result column by column, so the second turns it back.
  const small = squeeze(narrow, { lines: width, from: picture.height, to: height, step: 3, stride: picture.height * 3 })
  return { width, height, rgb: Uint8Array.from(small, (value) => value + 0.5) }
}

/** Lines of pixels, each `from` pixels long and to become `to` pixels long. */
interface Lines {
  readonly lines: number
  readonly from: number
  readonly to: number
  readonly step: number
  readonly stride: number
}

/** Averages along each line, and returns the result turned: its lines are the columns. */
const squeeze = (source: Uint8Array | Float32Array, { lines, from, to, step, stride }: Lines): Float32Array => {
  const result = new Float32Array(lines * to * step)
  const scale = from / to
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
        red += share * source[at]!
        green += share * source[at + 1]!
        blue += share * source[at + 2]!
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
 * The picture as it is to be seen, for an EXIF orientation from 1 to 8.
 *
 * @category combinators
 * @since 0.1.0
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
