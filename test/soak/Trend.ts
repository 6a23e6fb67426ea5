/**
 * Trends of a soak: whether a figure grows while the load stays the same.
 *
 * @module
 */

/** The values of a figure, at equal intervals. */
export type Series = ReadonlyArray<number>

const median = (values: Series): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] ?? 0 : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** The slope per interval: the median of the slopes between all pairs, which a few odd values do not move. */
export const slope = (values: Series): number =>
  values.length < 2 ? 0 : median(values.flatMap((late, i) => values.slice(0, i).map((early, j) => (late - early) / (i - j))))

/** The second half of a soak, when caches are full and code is compiled. */
export const later = (values: Series): Series => values.slice(Math.floor(values.length / 2))

/** The growth of a figure over the second half, and the most that counts as flat. */
export interface Growth {
  readonly name: string
  readonly unit: string
  readonly first: number
  readonly last: number
  readonly median: number
  readonly growth: number
  readonly most: number
  readonly isFlat: boolean
}

/** A figure with its bounds: the growth that is flat in any case, and the share of its median that is. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly values: Series
  readonly least: number
  readonly share: number
}

/** Judges a figure: the growth over its second half, by the slope, is within the larger of its bounds. */
export const judge = ({ least, name, share, unit, values }: Figure): Growth => {
  const half = later(values)
  const middle = median(half)
  const growth = slope(half) * Math.max(0, half.length - 1)
  const most = Math.max(least, middle * share)
  return { name, unit, first: values[0] ?? 0, last: values.at(-1) ?? 0, median: middle, growth, most, isFlat: growth <= most }
}
