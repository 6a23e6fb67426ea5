/**
 * Attacks on packed servers: each tries something, and says what held.
 *
 * @module
 */
import * as Dice from "../support/Dice.ts"
import { content, streams } from "./Downloads.ts"
import * as Fuzz from "./Fuzz.ts"
import * as Intruder from "./Intruder.ts"
import { bombs } from "./Bombs.ts"
import { runs } from "./Runs.ts"
import { spaces } from "./Spaces.ts"
import { make, memory, type Targets } from "./Targets.ts"

/** One attack: how often it tried, or an error that says what did not hold. */
export interface Attack {
  readonly name: string
  readonly holds: string
  readonly run: (targets: Targets, until: () => boolean) => Promise<number>
}

/** What became of an attack. */
export interface Result {
  readonly name: string
  readonly holds: string
  readonly tried: number
  readonly millis: number
  /** How many MiB the servers have together after it. */
  readonly memory: number
  /** Why it did not hold; `undefined` where it did. */
  readonly failure: string | undefined
}

/** The attacks that end by themselves. */
const attacks: ReadonlyArray<Attack> = [...bombs, ...content, ...Intruder.readers, ...streams, ...Intruder.callers, ...spaces, runs]

/** The least time of an attack that goes on as long as there is some, in milliseconds. */
const LEAST = 500

/** How much of the time that is left an attack may take: the runs leave some to the fuzzers. */
const share = (attack: Attack): number => attack === runs ? 0.85 : 1 / Math.max(1, Fuzz.all.length - Fuzz.all.indexOf(attack))

/** How an attack is made. */
export interface Options {
  readonly seed: number
  readonly seconds: number
  readonly told: (result: Result) => void
}

/** Packs, makes all attacks once, and fuzzes for the rest of the time; answers whether all held. */
export const run = async ({ seconds, seed, told }: Options): Promise<boolean> => {
  const end = performance.now() + seconds * 1000
  const targets = await make(Dice.make(seed))
  let held = true
  try {
    for (const attack of [...attacks, ...Fuzz.all]) {
      const now = performance.now()
      const until = Math.max(now + LEAST, now + (end - now) * share(attack))
      const result = await one(attack, targets, () => performance.now() >= until)
      told(result)
      held &&= result.failure === undefined
      if (isGone(targets)) break
    }
  } finally {
    await targets.end()
  }
  return held
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
