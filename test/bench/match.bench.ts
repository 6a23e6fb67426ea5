/**
 * The cost of matching a signal, with few and with many registered enzymes, and
 * without a cache between look-ups.
 *
 * Queries are literal, globbed and partly literal in turn, and each signal matches
 * one enzyme. The same 1,000 signals come in turn, with any number of other
 * enzymes. A second case spreads the signals over all enzymes, which shows the cost
 * of the memory that the look-ups touch.
 */
import { Address } from "systole"
import * as Enzyme from "../../src/registry/Enzyme.ts"
import { Enzymes } from "../../src/registry/Registry.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import { perSecond } from "./Bench.ts"

const SIGNALS = 1000
const LOOKUPS = 20_000

/** Numbered queries, each with a matching signal. */
const kinds: ReadonlyArray<(n: number) => { readonly query: string; readonly match?: "prefix"; readonly signal: (i: number) => string }> = [
  (n) => ({ query: `/signals/orders/shop${n}`, match: "prefix", signal: (i) => `/signals/orders/shop${n}/k${i}` }),
  (n) => ({ query: `/signals/topic${n}/*`, signal: (i) => `/signals/topic${n}/k${i}` }),
  (n) => ({ query: `/signals/media/img${n}-*`, signal: (i) => `/signals/media/img${n}-k${i}` }),
  (n) => ({ query: `/signals/*/:user/tag${n}`, signal: (i) => `/signals/users/k${i}/tag${n}` }),
  (n) => ({ query: `/signals/logs/**/*-end${n}`, signal: (i) => `/signals/logs/k${i}/x-end${n}` })
]

const run = (): void => {}

interface Setting {
  /** The binding of the n-th enzyme. Without it signals have no targets. */
  readonly cell?: (n: number) => string
  /** Whether the signals are spread over all enzymes instead of the same ten. */
  readonly spread?: boolean
}

const register = (count: number, { cell }: Setting): Enzymes => {
  const enzymes = new Enzymes(new Set())
  for (let n = 0; n < count; n++) {
    const { match = "exact", query } = kinds[n % kinds.length]!(n)
    enzymes.register(Enzyme.make({ name: `e${n}`, query, match, ...cell === undefined ? {} : { bind: [cell(n)] }, run }))
  }
  enzymes.activate()
  return enzymes
}

/** The enzyme that matches the i-th signal. */
const taker = (i: number, count: number, spread: boolean): number =>
  !spread ? i % 10 : count <= SIGNALS ? i % count : Math.floor(i * count / SIGNALS) + i % kinds.length

const round = (count: number, setting: Setting): Round => {
  const { cell, spread = false } = setting
  const enzymes = register(count, setting)
  const working = Array.from({ length: SIGNALS }, (_, i) => {
    const n = taker(i, count, spread)
    return { signal: kinds[n % kinds.length]!(n).signal(i), target: cell === undefined ? undefined : Address.parse(`${cell(n)}/k${i}`).key }
  })
  const bindings = new Map()
  const unlike = working.find(({ signal, target }) => enzymes.resolve(signal, target, bindings).entries.length !== 1)
  if (unlike !== undefined) throw new Error(`${unlike.signal} is not taken by exactly one of ${count} enzymes`)
  return perSecond(LOOKUPS, () => {
    for (let i = 0; i < LOOKUPS; i++) {
      const { signal, target } = working[i % SIGNALS]!
      enzymes.resolve(signal, target, bindings)
    }
  })
}

const sizes = [10, 1000, 100_000]

const kase = (name: string, setting: Setting): Case => ({
  name,
  unit: "signals/s",
  baseline: "10 enzymes",
  contenders: Object.fromEntries(sizes.map((count) => [`${count} enzymes`, round(count, setting)])),
  rounds: 30,
  warm: 10
})

const bench: Bench = {
  cases: [
    kase("no target", {}),
    kase("targets, each enzyme bound on its own cell", { cell: (n) => `/data/shop/s${n}` }),
    kase("targets, all enzymes bound on one cell", { cell: () => "/data/shop" }),
    kase("no target, spread over all enzymes", { spread: true })
  ],
  note: "Flat within 1.5x: a ratio of at least 0.67 where the signals are the same. Spread, the caches of the machine tell in it too."
}

export default bench
