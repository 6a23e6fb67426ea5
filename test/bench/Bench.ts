/**
 * Measurements: contenders take turns within one process, so that other load on
 * the machine affects all of them alike.
 *
 * A figure is the median of its rounds; its ratio to the baseline is the median
 * of the ratios within each round, which is steadier than a ratio of medians.
 *
 * @module
 */
import { render } from "../scripts/Table.ts"

/** Runs once and returns a figure in the unit of the case. */
export type Round = () => number | Promise<number>

/** Contenders for one figure. */
export interface Case {
  readonly name: string
  /** The title of its table. The first table has no title. */
  readonly table?: string
  /** The unit of the figure, such as `signals/s`. */
  readonly unit: string
  /** The contender to which the others are compared. */
  readonly baseline: string
  readonly contenders: Readonly<Record<string, Round>>
  /** The number of measured rounds. Default 9. */
  readonly rounds?: number
  /** The number of warm rounds before, for the compiler and the caches. Default 3. */
  readonly warm?: number
}

/** The default export of a file `test/bench/NAME.bench.ts`. */
export interface Bench {
  readonly cases: ReadonlyArray<Case>
  /** A remark on the figures, below the table. */
  readonly note?: string
  /** Frees the resources of the cases. */
  readonly close?: () => void | Promise<void>
}

/** The figures of one contender. */
export interface Figure {
  readonly case: string
  readonly contender: string
  readonly unit: string
  readonly median: number
  readonly p10: number
  readonly p90: number
  /** The median of the baseline. */
  readonly baseline: number
  readonly ratio: number
}

/** The cases of each table, in order, by its title. */
export const tables = (cases: ReadonlyArray<Case>): ReadonlyMap<string, ReadonlyArray<Case>> =>
  Map.groupBy(cases, ({ table = "" }) => table)

/** One row of the JSON form. */
export interface Row {
  readonly bench: string
  readonly case: string
  readonly host: string
  readonly value: number
  readonly unit: string
  readonly baseline: number
  readonly ratio: number
}

const ROUNDS = 9
const WARM = 3

/** The quantile `q` of sorted values, linearly interpolated. */
export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  if (values.length === 0) throw new Error("There is no quantile of no values; measure at least one round")
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * q
  const below = Math.floor(place)
  const low = sorted[below]!
  return low + (sorted[Math.min(below + 1, sorted.length - 1)]! - low) * (place - below)
}

/** Measures a case. Each round runs every contender once, and begins with a different one. */
export const measure = async (kase: Case): Promise<ReadonlyArray<Figure>> => {
  const names = Object.keys(kase.contenders)
  if (!names.includes(kase.baseline)) {
    throw new Error(`The case "${kase.name}" has no contender "${kase.baseline}" to be its baseline; it has ${names.join(", ")}`)
  }
  const values = new Map(names.map((name): [string, Array<number>] => [name, []]))
  const warm = kase.warm ?? WARM
  for (let round = 0; round < warm + (kase.rounds ?? ROUNDS); round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!
      const value = await kase.contenders[name]!()
      if (round >= warm) values.get(name)!.push(value)
    }
  }
  const base = values.get(kase.baseline)!
  return names.map((contender) => {
    const own = values.get(contender)!
    return {
      case: kase.name,
      contender,
      unit: kase.unit,
      median: quantile(own, 0.5),
      p10: quantile(own, 0.1),
      p90: quantile(own, 0.9),
      baseline: quantile(base, 0.5),
      ratio: quantile(own.map((value, i) => value / base[i]!), 0.5)
    }
  })
}

/** A round that calls `work`, which makes `count` operations, and returns the operations per second. */
export const perSecond = (count: number, work: () => unknown): Round => async () => {
  const began = performance.now()
  // Synchronous work must not pay for a turn of the event loop.
  const pending = work()
  if (pending instanceof Promise) await pending
  return count / ((performance.now() - began) / 1000)
}

/** The figures as rows of the JSON form. */
export const rows = (bench: string, host: string, figures: ReadonlyArray<Figure>): ReadonlyArray<Row> =>
  figures.map((figure) => ({
    bench,
    case: `${figure.case}: ${figure.contender}`,
    host,
    value: round(figure.median),
    unit: figure.unit,
    baseline: round(figure.baseline),
    ratio: round(figure.ratio)
  }))

/** The figures as a table. */
export const table = (figures: ReadonlyArray<Figure>): string =>
  render(
    ["case", "contender", "median", "p10", "p90", "unit", "ratio"],
    figures.map((figure) => [
      figure.case,
      figure.contender,
      ...[figure.median, figure.p10, figure.p90].map((value) => String(round(value))),
      figure.unit,
      figure.ratio.toFixed(3)
    ])
  )

/** A number with four significant digits. */
const round = (value: number): number => Number(value.toPrecision(4))
