/**
 * Reproducible random numbers of a run, derived from the beat's seed.
 *
 * The generator is sfc32, with 128 bits of state. It uses only 32-bit integer arithmetic, so every host draws the same
 * numbers.
 *
 * @module
 */

/**
 * Creates the generator of run number `index` of a beat: numbers from 0 up to, but not including, 1.
 *
 * @param seed 32 hexadecimal digits
 */
export const make = (seed: string, index: number): () => number => {
  let a = Number.parseInt(seed.slice(0, 8), 16) | 0
  let b = Number.parseInt(seed.slice(8, 16), 16) | 0
  let c = Number.parseInt(seed.slice(16, 24), 16) | 0
  let d = (Number.parseInt(seed.slice(24, 32), 16) + Math.imul(index + 1, 0x9e3779b1)) | 0
  const draw = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t | 0
    return (t >>> 0) / 4294967296
  }
  // The first draws still correlate with the seed.
  for (let i = 0; i < 12; i++) draw()
  return draw
}
