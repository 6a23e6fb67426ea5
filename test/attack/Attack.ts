/**
 * The callers: attacks of clients on packed servers. Each asserts the properties that it tries to break.
 *
 * @module
 */
import * as Random from "../support/Random.ts"
import { content, streams } from "./Downloads.ts"
import * as Fuzz from "./Fuzz.ts"
import * as Intruder from "./Intruder.ts"
import { bombs } from "./Bombs.ts"
import { runs } from "./Runs.ts"
import { spaces } from "./Spaces.ts"
import { make, memory, type Packed, type Targets } from "./Targets.ts"

/** An attack. It returns the number of its attempts, or throws an error that names the broken property. */
export interface Attack {
  readonly name: string
  readonly holds: string
  readonly run: (targets: Targets, until: () => boolean) => Promise<number>
}

/** The result of an attack. */
export interface Result {
  readonly name: string
  readonly holds: string
  readonly tried: number
  readonly millis: number
  /** The memory of both servers afterwards, in MiB. */
  readonly memory: number
  /** The broken property, or `undefined`. */
  readonly failure: string | undefined
}

/** The attacks that end by themselves. */
const attacks: ReadonlyArray<Attack> = [...bombs, ...content, ...Intruder.readers, ...streams, ...Intruder.callers, ...spaces, runs]

/** The minimum time of an attack without an end of its own, in milliseconds. */
const LEAST = 500

/** The share of the remaining time that an attack may take. The runs leave some to the fuzzers. */
const share = (attack: Attack): number => attack === runs ? 0.85 : 1 / Math.max(1, Fuzz.all.length - Fuzz.all.indexOf(attack))

/** The options of all attacks. */
export interface Options {
  readonly packed: Packed
  readonly seed: number
  readonly seconds: number
  readonly told: (result: Result) => void
}

/** Makes each attack once, and fuzzes for the rest of the time. */
export const run = async ({ packed, seconds, seed, told }: Options): Promise<void> => {
  const end = performance.now() + seconds * 1000
  const targets = await make(packed, Random.make(seed))
  try {
    for (const attack of [...attacks, ...Fuzz.all]) {
      const now = performance.now()
      const until = Math.max(now + LEAST, now + (end - now) * share(attack))
      const result = await one(attack, targets, () => performance.now() >= until)
      told(result)
      if (isGone(targets)) break
    }
  } finally {
    await targets.end()
  }
}

const one = async ({ holds, name, run }: Attack, targets: Targets, until: () => boolean): Promise<Result> => {
  const began = performance.now()
  let tried = 0
  let failure: string | undefined
  try {
    tried = await run(targets, until)
    await Promise.all([targets.guarded.check(), targets.open.check()])
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  const used = memory(targets.guarded.server.process.pid) + memory(targets.open.server.process.pid)
  return { name, holds, tried, millis: performance.now() - began, memory: used, failure }
}

const isGone = ({ guarded, open }: Targets): boolean =>
  [guarded, open].some(({ server }) => server.process.exitCode !== null || server.process.signalCode !== null)
