/**
 * Mutations of the source: each makes one line wrong, and a test must fail.
 *
 * @module
 */
import type { Assertion, VitestRun } from "../scripts/Vitest.ts"
import { tally } from "../scripts/Vitest.ts"

/** A wrong line in one file, and the tests of which one must fail. */
export interface Mutant {
  /** The broken behaviour: a plain statement of the wrong rule. */
  readonly name: string
  /** The file, from the project's root. */
  readonly file: string
  /** A text on one line that the file holds exactly once. */
  readonly find: string
  readonly replace: string
  /** The tests that run: parts of the paths of their files. */
  readonly tests: ReadonlyArray<string>
}

/**
 * `caught`: a test failed, or the process of the tests crashed, as by a loop that takes all memory. `hung`: no test failed but
 * by its time-out, which a busy machine may cause, too. `survived`: all tests passed. `broken`: no test ran, because the
 * mutated source cannot be loaded.
 */
export type Verdict = "caught" | "hung" | "survived" | "broken"

/** The number of occurrences of one text in another. */
export const occurrences = (text: string, find: string): number => text.split(find).length - 1

/** The text with the mutation, or the reason why it is impossible. */
export const apply = (mutant: Mutant, text: string): { readonly text: string } | { readonly refused: string } => {
  if (mutant.find === "" || mutant.find.includes("\n")) return { refused: "what it finds is not within one line" }
  if (mutant.find === mutant.replace) return { refused: "it changes nothing" }
  const count = occurrences(text, mutant.find)
  if (count !== 1) return { refused: `${mutant.file} holds what it finds ${count} times instead of once` }
  return { text: text.replace(mutant.find, () => mutant.replace) }
}

/** The time-out of a test or of a hook, in the words of vitest. */
const TIMED_OUT = /timed out in \d+ ?ms/

/** The verdict of a test run over a mutated source. */
export const verdict = (run: Pick<VitestRun, "code" | "report">): Verdict => {
  if (run.code === undefined) return "hung"
  if (run.report === undefined) return "caught"
  const tests = run.report.testResults.flatMap((file) => file.assertionResults)
  const failed = tests.filter((test) => test.status === "failed")
  const isTimedOut = ({ failureMessages = [] }: Assertion) => failureMessages.some((message) => TIMED_OUT.test(message))
  if (failed.length > 0) return failed.every(isTimedOut) ? "hung" : "caught"
  return tests.length > 0 && tally(run).failed === 0 ? "survived" : "broken"
}
