/**
 * The steps of a check of the project, run one after another.
 *
 * @module
 */
import type { Host } from "./Host.ts"
import { run } from "./Process.ts"
import type { Tally } from "./Vitest.ts"
import { runVitest, tally } from "./Vitest.ts"

/** What one step found. */
export interface Outcome extends Tally {
  readonly output: string
  readonly millis: number
}

/** Something that can pass or fail. */
export interface Step {
  readonly name: string
  readonly run: () => Promise<Outcome>
}

/** A command line that passes with exit code 0. */
export const command = (name: string, line: readonly [string, ...Array<string>]): Step => ({
  name,
  run: async () => {
    const ended = await run(line)
    return { ...ended, passed: ended.code === 0 ? 1 : 0, failed: ended.code === 0 ? 0 : 1 }
  }
})

/** Tests, counted one by one. */
export const tests = (name: string, host: Host, args: ReadonlyArray<string>): Step => ({
  name,
  run: async () => {
    const ended = await runVitest(host, args)
    return { ...ended, ...tally(ended) }
  }
})

/** Runs the steps, prints a line for each and the sum at the end, and answers whether all passed. */
export const runAll = async (steps: ReadonlyArray<Step>): Promise<boolean> => {
  const outcomes: Array<Outcome> = []
  for (const step of steps) {
    const outcome = await step.run()
    outcomes.push(outcome)
    if (outcome.failed > 0) console.log(outcome.output)
    console.log(line(step.name, outcome))
  }
  const sum = (read: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + read(outcome), 0)
  const failed = sum((outcome) => outcome.failed)
  console.log(`total ${seconds(sum((outcome) => outcome.millis))}`)
  console.log(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
  return failed === 0
}

/** The line that tells of one step. */
export const line = (name: string, { failed, millis, passed }: Outcome): string =>
  `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(24)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ${seconds(millis).padStart(9)}`

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
