/**
 * The watch: the figures that matter, measured in pairs on two trees of the project, in alternation.
 *
 * Each figure is a ratio to a baseline of the same process, or of a server beside it, so that the speed of the machine
 * cancels out. A figure differs if no sample of one tree lies within the range of the other's.
 *
 * @module
 */
import { render } from "../scripts/Table.ts"
import { type Case, measure, quantile } from "./Bench.ts"

/** A watched figure of a bench: the geometric mean of the ratios of its cases. */
export interface Watched {
  readonly name: string
  readonly bench: string
  /** Whether a case of the bench belongs to the figure. */
  readonly has: (kase: string) => boolean
  readonly contender: string
  readonly rounds: number
  readonly warm: number
}

/** A figure of a load on a server, in requests per second. */
export interface Loaded {
  readonly name: string
  readonly path: string
  readonly concurrency: number
}

const beat = (name: string, { rounds, warm }: Pick<Watched, "rounds" | "warm">): Watched =>
  ({ name: `beat: ${name}`, bench: "beat", has: (kase) => kase === name, contender: "systole", rounds, warm })

const shapes = (name: string, has: Watched["has"]): Watched =>
  ({ name: `reactive: ${name}`, bench: "reactive", has, contender: "systole", rounds: 9, warm: 20 })

const isJournaled = (kase: string): boolean => /^journaled: kairo: (broad|diamond|triangle|repeated)$/.test(kase)

/** The figures of processes. */
export const watched: ReadonlyArray<Watched> = [
  beat("memory, 1000 signals a beat", { rounds: 100, warm: 200 }),
  beat("memory, one signal a beat", { rounds: 60, warm: 100 }),
  beat("sqlite, 1000 signals a beat", { rounds: 40, warm: 80 }),
  beat("sqlite, one signal a beat", { rounds: 40, warm: 60 }),
  shapes("kairo", (kase) => kase.startsWith("kairo: ") && !kase.includes("cellx")),
  shapes("cellx 1000", (kase) => kase === "kairo: cellx 1000"),
  shapes("dynamic", (kase) => kase.startsWith("dynamic: ")),
  { ...shapes("a batch that is a beat", isJournaled), contender: "journaled", rounds: 3, warm: 2 }
]

/** The figures of servers. */
export const loaded: ReadonlyArray<Loaded> = [
  { name: "http: an event, 16 at once", path: "/v1/spaces/bench/signals", concurrency: 16 },
  { name: "http: a durable run of ten requests, 16 at once", path: "/chain?durable", concurrency: 16 }
]

/** One measurement of a figure. */
export interface Sample {
  readonly name: string
  readonly value: number
}

/** Measures the figures of a bench. A figure without a case in this tree is omitted. */
export const sample = async (bench: string, cases: ReadonlyArray<Case>): Promise<ReadonlyArray<Sample>> => {
  const samples: Array<Sample> = []
  for (const row of watched) {
    if (row.bench !== bench) continue
    const ratios: Array<number> = []
    for (const kase of cases.filter(({ name, unit }) => row.has(name) && unit !== "beats/flush")) {
      const { baseline, contenders } = kase
      const pair = { [baseline]: contenders[baseline]!, [row.contender]: contenders[row.contender]! }
      const figures = await measure({ ...kase, contenders: pair, rounds: row.rounds, warm: row.warm })
      const { ratio } = figures.find(({ contender }) => contender === row.contender)!
      // Times become rates, so that more is better in each figure.
      ratios.push(kase.unit.endsWith("/s") ? ratio : 1 / ratio)
    }
    if (ratios.length > 0) samples.push({ name: row.name, value: geometricMean(ratios) })
  }
  return samples
}

const geometricMean = (values: ReadonlyArray<number>): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

/** The comparison of one figure. More is better. */
export interface Verdict {
  readonly name: string
  readonly before: number
  readonly now: number
  /** The median of `now` over the median of `before`. */
  readonly ratio: number
  /** The larger of both ranges, relative to the median. */
  readonly spread: number
  readonly verdict: "slower" | "faster" | "same"
}

/** Compares the samples of two trees; a figure that one of them lacks is omitted. */
export const compare = (before: ReadonlyArray<Sample>, now: ReadonlyArray<Sample>): ReadonlyArray<Verdict> =>
  [...new Set([...before, ...now].map(({ name }) => name))].flatMap((name): ReadonlyArray<Verdict> => {
    const [old, own] = [before, now].map((samples) => samples.filter((sample) => sample.name === name).map(({ value }) => value))
    if (old!.length === 0 || own!.length === 0) return []
    const [was, is] = [quantile(old!, 0.5), quantile(own!, 0.5)]
    const spread = Math.max((Math.max(...old!) - Math.min(...old!)) / was, (Math.max(...own!) - Math.min(...own!)) / is)
    const verdict = Math.max(...own!) < Math.min(...old!) ? "slower" : Math.min(...own!) > Math.max(...old!) ? "faster" : "same"
    return [{ name, before: was, now: is, ratio: is / was, spread, verdict }]
  })

/** The verdicts as a table. */
export const table = (verdicts: ReadonlyArray<Verdict>): string =>
  render(
    ["figure", "before", "now", "now / before", "spread", "verdict"],
    verdicts.map(({ before, name, now, ratio, spread, verdict }) =>
      [name, before.toPrecision(3), now.toPrecision(3), ratio.toFixed(3), `${(spread * 100).toFixed(0)} %`, verdict])
  )
