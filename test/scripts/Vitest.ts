/**
 * Runs of vitest, and their reports.
 *
 * @module
 */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Host } from "./Host.ts"
import { root, vitest } from "./Host.ts"
import type { Ended, RunOptions } from "./Process.ts"
import { run } from "./Process.ts"

/** One test in vitest's JSON report. */
export interface Assertion {
  readonly title: string
  readonly fullName: string
  readonly status: string
  readonly failureMessages?: ReadonlyArray<string>
}

/** The used fields of vitest's JSON report. */
export interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<Assertion>
  }>
}

/** The number of passed and failed tests. */
export interface Tally {
  readonly passed: number
  readonly failed: number
}

/** A run of vitest, with its report unless it crashed before. */
export interface VitestRun extends Ended {
  readonly report: Report | undefined
}

/** Runs vitest on a host over the files with one of `args` in their path. */
export const runVitest = async (host: Host, args: ReadonlyArray<string>, options: RunOptions = {}): Promise<VitestRun> => {
  const folder = await mkdtemp(join(tmpdir(), "systole-report-"))
  const file = join(folder, "report.json")
  const ended = await run(vitest(host, [...args, "--reporter=default", "--reporter=json", `--outputFile.json=${file}`]), options)
  const text = await readFile(file, "utf8").catch(() => undefined)
  await rm(folder, { recursive: true })
  return { ...ended, report: text === undefined ? undefined : JSON.parse(text) as Report }
}

/** Counts the tests of a run. A file that does not load and an unexplained exit code are failures. */
export const tally = ({ code, report }: Pick<VitestRun, "code" | "report">): Tally => {
  if (report === undefined) return { passed: 0, failed: 1 }
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  const broken = report.testResults.filter((file) => file.status === "failed" && !file.assertionResults.some(isFailed)).length
  const failed = tests.filter(isFailed).length + broken
  return { passed: tests.filter((test) => test.status === "passed").length, failed: failed === 0 && code !== 0 ? 1 : failed }
}

/** An unhandled error in the output of vitest, which its report leaves out. */
const UNHANDLED = /This error originated in "([^"]+)" test file/g

/**
 * The paths of the files that failed, and of those that ran while an error was thrown that no test caught. None is
 * known after a crash.
 */
export const failedFiles = ({ output, report }: Pick<VitestRun, "output" | "report">): ReadonlyArray<string> => {
  const failed = report?.testResults.filter((file) => file.status === "failed").map((file) => file.name) ?? []
  const threw = [...output.matchAll(UNHANDLED)].map(([, file = ""]) => join(root, file))
  return [...new Set([...failed, ...threw])].sort()
}

/** The report of a run with the files of a later one in place of the same files. */
export const merged = (first: Report | undefined, second: Report | undefined): Report | undefined => {
  if (first === undefined || second === undefined) return second
  const later = new Map(second.testResults.map((file) => [file.name, file]))
  return { testResults: first.testResults.map((file) => later.get(file.name) ?? file) }
}

const isFailed = (test: Assertion): boolean => test.status === "failed"
