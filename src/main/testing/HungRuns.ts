/**
 * Runs of a test that await a promise of their own, which may never settle.
 *
 * The limit of a run is on the clock of the test, which stands still, so its beat would never end. After {@link PATIENCE} times the
 * limit of real time, the run is reported.
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Pacemaker } from "../../kernel/model/Pacemaker.ts"
import { ExpectationFailed } from "./contract/Check.ts"

/** Taken before the guards of runs. */
const { clearTimeout, setTimeout } = globalThis

/** With the limit that enzymes have by default, a run is reported before test runners give up. */
const PATIENCE = 3

/** Receives the failure of a run, and its limit. */
export type Hung = (failure: ExpectationFailed, limitMs: number) => void

/** The receiver of a test; `undefined` where nothing waits for the beats of one. */
export const CurrentHung = Context.Reference<Hung | undefined>("systole/testing/Hung", { defaultValue: () => undefined })

/** Reports each run that awaits too long. */
export const watch = (hung: Hung): NonNullable<Pacemaker["Service"]["awaits"]> => (enzyme, limitMs) => {
  const millis = PATIENCE * limitMs
  const timer = setTimeout(() => hung(new ExpectationFailed(messageOf(enzyme, { limitMs, millis })), limitMs), millis)
  return () => clearTimeout(timer)
}

const messageOf = (enzyme: string, { limitMs, millis }: { readonly limitMs: number; readonly millis: number }): string =>
  `A run of "${enzyme}" awaits a promise of its own that has not settled for ${millis} ms. Its limit of ${limitMs} ms is on the clock ` +
  "of the test, which stands still. Settle the promise, or raise limitMs if it takes longer. To wait for the world, declare " +
  "durable: true, and await tx.io.fetch, tx.sleep or tx.waitForSignal. To test the limit, move the clock while the beat runs: " +
  `const beat = space.step(); await space.run(TestClock.adjust(${limitMs})); await beat`
