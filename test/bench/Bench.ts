/**
 * Measurements: contenders take turns within one process, so that whatever else
 * the machine does meets all of them alike.
 *
 * A figure is the median of its rounds; its ratio to the baseline is the median
 * of the ratios within each round, which is steadier than a ratio of medians.
 *
 * @module
 */
import { render } from "../scripts/Table.ts"

/** Runs once and answers a figure in the case's unit. */
export type Round = () => number | Promise<number>

/** Contenders for one figure. */
export interface Case {
  readonly name: string
  /** The title of the table in which it stands; those without one stand in the first. */
  readonly table?: string
  /** What the figure counts, such as `signals/s`. */
  readonly unit: string
  /** The contender that the others are measured against. */
  readonly baseline: string
  readonly contenders: Readonly<Record<string, Round>>
  /** Rounds that count. Default 9. */
  readonly rounds?: number
  /** Rounds before those, for the compiler and the caches. Default 3. */
  readonly warm?: number
}

/** What a file `test/bench/NAME.bench.ts` exports as its default. */
export interface Bench {
  readonly cases: ReadonlyArray<Case>
  /** Says what the figures mean, below the table. */
  readonly note?: string
  /** Frees what the cases opened. */
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
  /** The baseline's median. */
  readonly baseline: number
  readonly ratio: number
}

/** The cases of each table, in order, by its title. */
export const tables = (cases: ReadonlyArray<Case>): ReadonlyMap<string, ReadonlyArray<Case>> => Map.groupBy(cases, ({ table = "" }) => table)

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

/** The value below which the part `q` of the values lies, between neighbours by their distance. */
export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  if (values.length === 0) throw new Error("There is no quantile of no values; measure at least one round")
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * q
  const below = Math.floor(place)
  const low = sorted[below]!
  return low + (sorted[Math.min(below + 1, sorted.length - 1)]! - low) * (place - below)
}

/** Measures a case: in each round every contender once, each round beginning with another one. */
export const measure = async (kase: Case): Promise<ReadonlyArray<Figure>> => {
  const names = Object.keys(kase.contenders)
  if (!names.includes(kase.baseline)) throw new Error(`The case "${kase.name}" has no contender "${kase.baseline}" to be its baseline; it has ${names.join(", ")}`)
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

/** A round that calls `work` and answers how many of its `count` operations there were in a second. */
export const perSecond = (count: number, work: () => unknown): Round => async () => {
  const began = performance.now()
  // Work that is synchronous pays no turn of the event loop.
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

/** Four digits that count. */
const round = (value: number): number => Number(value.toPrecision(4))
