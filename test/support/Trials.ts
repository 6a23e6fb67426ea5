/**
 * The setting of trials: how many random trials a property runs, and whether a test has its short or its long form.
 *
 * The variable `TRIALS` of the environment is `ok`, `test`, `full` or `soak`; the default is `test`. A property
 * states the trials of a soak. The other settings run a share of them, spread evenly. Deno and Bun run no
 * larger share than Node, and each assertion runs on each host under each setting.
 *
 * @module
 */
import process from "node:process"
import { current, type Host } from "../scripts/Host.ts"

/** The shares of a soak's trials, by setting and host. */
const shares: Readonly<Record<string, Readonly<Record<Host, number>>>> = {
  ok: { node: 1 / 40, deno: 1 / 40, bun: 1 / 40 },
  test: { node: 1 / 40, deno: 1 / 40, bun: 1 / 40 },
  full: { node: 1 / 20, deno: 1 / 40, bun: 1 / 40 },
  soak: { node: 1, deno: 1, bun: 1 }
}

/** The share of a setting on a host; fails for a setting that does not exist. */
export const shareOf = (setting: string, host: Host): number => {
  const share = shares[setting]
  if (share === undefined) throw new Error(`TRIALS is "${setting}"; give ${Object.keys(shares).join(", ")}`)
  return share[host]
}

const setting = process.env["TRIALS"] ?? "test"
const share = shareOf(setting, current())

/** The two forms of what a test is given. Both show the same rule. */
export interface Forms<A> {
  readonly short: A
  /** More loads, kills or hosts of the same kind. */
  readonly long: A
}

/** The long form under `npm run full` and in a soak, and the short one otherwise. */
export const form = <A>({ long, short }: Forms<A>): A => setting === "full" || setting === "soak" ? long : short

/** Limits on the choice of trials. */
export interface Choice<A> {
  /** The fewest trials that reach each assertion of the property. Default 1. */
  readonly least?: number
  /** Trials that run under every setting, such as seeds that once found a bug. */
  readonly always?: ReadonlyArray<A>
}

const divisor = (a: number, b: number): number => b === 0 ? a : divisor(b, a % b)

/** Spreads so many numbers evenly from 0 up to a bound; neighbours differ in their low bits, too. */
export const spread = (bound: number, count: number): ReadonlyArray<number> => {
  let stride = Math.max(1, Math.round(bound * 0.618))
  while (divisor(bound, stride) > 1) stride++
  return Array.from({ length: count }, (_, i) => i * stride % bound)
}

/** The number of trials that run out of a soak's. */
export const count = (soak: number, least = 1): number => Math.min(soak, Math.max(least, Math.ceil(soak * share)))

/** The trials that run out of a soak's, in the order of the soak. */
export const some = <A>(soak: ReadonlyArray<A>, { always = [], least = 1 }: Choice<A> = {}): ReadonlyArray<A> => {
  const chosen = new Set(spread(soak.length, count(soak.length, least)))
  const others = always.filter((trial) => !soak.includes(trial))
  return [...soak.filter((trial, i) => chosen.has(i) || always.includes(trial)), ...others]
}

/** The seeds that run out of a soak's `from`, `from + 1` and so on. */
export const seeds = (soak: number, { from = 0, ...choice }: Choice<number> & { readonly from?: number } = {}): ReadonlyArray<number> =>
  some(Array.from({ length: soak }, (_, i) => from + i), choice)

/** The seeds from 0 on that run out of a soak's, of a property with a number of its own for each setting. */
export const seedsBy = (counts: Readonly<Record<"ok" | "test" | "full" | "soak", number>>): ReadonlyArray<number> =>
  spread(counts.soak, counts[setting as keyof typeof counts]).toSorted((a, b) => a - b)

/** The number of beats from which a space is replayed, beside its first and its last. */
const BEATS = 3

/**
 * The beats up to the head of a space from which it is replayed: the first, the last, and some between them; in a soak all. The
 * worlds of the simulator are replayed from any beat.
 */
export const beats = (head: number): ReadonlyArray<number> => {
  const all = Array.from({ length: head + 1 }, (_, beat) => beat)
  if (share === 1) return all
  const chosen = new Set([0, head, ...spread(all.length, Math.min(all.length, BEATS))])
  return all.filter((beat) => chosen.has(beat))
}

/** The same for what the simulator does not have, as children of nodes: with a short history, all. */
export const manyBeats = (head: number): ReadonlyArray<number> =>
  seeds(head + 1, { least: 16, always: [0, head] })

/** The options of a property over arbitraries, of which a soak draws so many. */
export const draws = (soak = 100): { readonly arbitrary: { readonly runs: number } } => ({ arbitrary: { runs: count(soak, 50) } })
