/**
 * The steps of a check of the project, and the stages in which they run.
 *
 * @module
 */
import type { Host } from "./Host.ts"
import { run } from "./Process.ts"
import type { Tally } from "./Vitest.ts"
import { runVitest, tally } from "./Vitest.ts"

/** The result of a step. */
export interface Outcome extends Tally {
  readonly output: string
  readonly millis: number
}

/** A step that passes or fails. */
export interface Step {
  readonly name: string
  readonly run: () => Promise<Outcome>
  /** Whether its output is printed though it passed. */
  readonly isShown?: boolean
}

/** A command line that passes with exit code 0. */
export const command = (name: string, line: readonly [string, ...Array<string>]): Step => ({
  name,
  run: async () => {
    const ended = await run(line)
    return { ...ended, passed: ended.code === 0 ? 1 : 0, failed: ended.code === 0 ? 0 : 1 }
  }
})

/** A command line of which the output is printed though it passed. */
export const shown = (name: string, line: readonly [string, ...Array<string>]): Step => ({ ...command(name, line), isShown: true })

/** Tests, counted one by one. */
export const tests = (name: string, host: Host, args: ReadonlyArray<string>): Step => ({
  name,
  run: async () => {
    const ended = await runVitest(host, args)
    return { ...ended, ...tally(ended) }
  }
})

/** Steps that run side by side. */
export type Stage = ReadonlyArray<Step>

/** Runs a step and prints its line; prints its output, too, where it failed or has figures to show. */
const runOne = async (step: Step): Promise<Outcome> => {
  const outcome = await step.run()
  if (outcome.failed > 0 || step.isShown === true) console.log(outcome.output.trimEnd())
  console.log(line(step.name, outcome))
  return outcome
}

/** Runs the stages in turn, prints a line for each step and the sum at the end, and answers whether all passed. */
export const runAll = async (stages: ReadonlyArray<Stage>): Promise<boolean> => {
  const began = performance.now()
  const outcomes: Array<Outcome> = []
  for (const stage of stages) outcomes.push(...await Promise.all(stage.map(runOne)))
  const sum = (read: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + read(outcome), 0)
  const failed = sum((outcome) => outcome.failed)
  console.log(`total ${seconds(performance.now() - began)}`)
  console.log(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
  return failed === 0
}

/** The printed line of a step. */
export const line = (name: string, { failed, millis, passed }: Outcome): string =>
  `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(24)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ` +
    `${seconds(millis).padStart(9)}`

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
