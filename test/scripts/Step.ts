/**
 * The steps of a check of the project, and the stages in which they run. A stage has lanes, which run side by side, and the
 * steps of a lane run one after another.
 *
 * Tests of processes and of hosts can starve on shared cores, where other steps and workers run beside them. Alone they
 * do not, and a defect fails both times. So the failures of a stage run once more when nothing else does, and
 * count as they end then. The last lines name them: a file that often appears there has a bound that is too
 * tight, or a race.
 *
 * @module
 */
import { relative } from "node:path"
import type { Host } from "./Host.ts"
import { root } from "./Host.ts"
import { run } from "./Process.ts"
import type { Tally, VitestRun } from "./Vitest.ts"
import { failedFiles, merged, runVitest, tally } from "./Vitest.ts"

/** The result of a step. */
export interface Outcome extends Tally {
  readonly output: string
  readonly millis: number
  /** The failed test files by path, or the name of the step. */
  readonly failures: ReadonlyArray<string>
  /** Runs the failures once more; absent if a second run cannot end otherwise. */
  readonly again?: () => Promise<Outcome>
}

/** A step that passes or fails. */
export interface Step {
  readonly name: string
  readonly run: () => Promise<Outcome>
  /** Whether its output is printed though it passed. */
  readonly isShown?: boolean
}

/** Steps that run one after another. */
export type Lane = ReadonlyArray<Step>

/** Lanes that run side by side. */
export type Stage = ReadonlyArray<Lane>

/** A command line that passes with exit code 0. */
export const command = (name: string, line: readonly [string, ...Array<string>]): Step => ({
  name,
  run: async () => {
    const ended = await run(line)
    const failures = ended.code === 0 ? [] : [name]
    return { ...ended, failures, passed: 1 - failures.length, failed: failures.length }
  }
})

/** A command line of which the output is printed though it passed. */
export const shown = (name: string, line: readonly [string, ...Array<string>]): Step => ({ ...command(name, line), isShown: true })

/**
 * A command line that starts processes and hosts, and so runs once more, alone, if it fails. `left` are the arguments by which it
 * runs what failed alone, taken from its output.
 */
export const busy = (
  name: string,
  line: readonly [string, ...Array<string>],
  left: (output: string) => ReadonlyArray<string> = () => []
): Step => ({
  name,
  run: async () => {
    const first = await command(name, line).run()
    return { ...first, again: command(name, [...line, ...left(first.output)]).run }
  }
})

/** The tests of a step. */
export interface Selection {
  /** Parts of the paths of their files; all by default. */
  readonly files?: ReadonlyArray<string>
  /** The files and folders that are left out; a folder ends with a slash. */
  readonly without?: ReadonlyArray<string>
  /** Default is vitest itself. */
  readonly runTests?: (host: Host, args: ReadonlyArray<string>) => Promise<VitestRun>
}

/** A step of tests. */
export interface Tests extends Step {
  readonly host: Host
  readonly selection: Selection
}

/** Whether a selection has the file with a path. */
export const selects = ({ files = [""], without = [] }: Selection, path: string): boolean =>
  files.some((part) => path.includes(part)) && !without.some((left) => left.endsWith("/") ? path.startsWith(left) : path === left)

/** Tests, counted one by one. Failed files run once more, alone on one worker. */
export const tests = (name: string, host: Host, selection: Selection): Tests => {
  const { files = [], runTests = runVitest, without = [] } = selection
  const options = without.flatMap((left) => ["--exclude", left.endsWith("/") ? `${left}**` : left])
  const outcome = (ended: VitestRun): Outcome => {
    const counts = tally(ended)
    const failed = failedFiles(ended).map((file) => relative(root, file))
    return { ...ended, ...counts, failures: counts.failed === 0 ? [] : failed.length === 0 ? [name] : failed }
  }
  return {
    name,
    host,
    selection,
    run: async () => {
      const first = await runTests(host, [...files, ...options])
      // A run over its time would take as long again.
      if (first.code === undefined) return outcome(first)
      const failed = failedFiles(first)
      const again = async () => {
        const second = await runTests(host, [...failed.length === 0 ? files : failed, ...options, "--maxWorkers=1"])
        return outcome(failed.length === 0 ? second : { ...second, report: merged(first.report, second.report) })
      }
      return { ...outcome(first), again }
    }
  }
}

/** A step with the outcome of its first run. */
interface Run {
  readonly name: string
  readonly first: Outcome
}

const runLane = async (lane: Lane): Promise<ReadonlyArray<Run>> => {
  const runs: Array<Run> = []
  for (const step of lane) runs.push({ name: step.name, first: await runOne(step) })
  return runs
}

/** Runs a step and prints its line; prints its output, too, where it failed or has figures to show. */
const runOne = async ({ isShown = false, name, run }: Step): Promise<Outcome> => {
  const outcome = await run()
  if (outcome.failed > 0 || isShown) console.log(outcome.output.trimEnd())
  console.log(line(name, outcome))
  return outcome
}

/** Runs the failures of a step once more, and returns the outcome that counts; `starved` collects what passed alone. */
const settle = async (name: string, first: Outcome, starved: Array<string>): Promise<Outcome> => {
  if (first.failed === 0 || first.again === undefined) return first
  console.log(`     ${name}: runs again, alone: ${first.failures.join(", ")}`)
  const second = await runOne({ name: `${name}, alone`, run: first.again })
  starved.push(...first.failures.filter((failure) => !second.failures.includes(failure)))
  return second
}

/** Runs the stages in turn, prints a line for each step and the sum at the end, and answers whether all passed. */
export const runAll = async (stages: ReadonlyArray<Stage>): Promise<boolean> => {
  const began = performance.now()
  const outcomes: Array<Outcome> = []
  const starved: Array<string> = []
  for (const stage of stages) {
    const ended = await Promise.all(stage.map(runLane))
    for (const { first, name } of ended.flat()) outcomes.push(await settle(name, first, starved))
  }
  const sum = (read: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + read(outcome), 0)
  const failed = sum((outcome) => outcome.failed)
  if (starved.length > 0) console.log(`failed while others ran, and passed alone: ${starved.length}: ${starved.join(", ")}`)
  console.log(`total ${seconds(performance.now() - began)}`)
  console.log(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
  return failed === 0
}

/** The printed line of a step. */
export const line = (name: string, { failed, millis, passed }: Pick<Outcome, "failed" | "millis" | "passed">): string =>
  `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(26)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ` +
    `${seconds(millis).padStart(9)}`

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
