/**
 * Mutations of the source: each makes one line wrong, and a test must fail.
 *
 * @module
 */
import type { VitestRun } from "../scripts/Vitest.ts"
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

/** `caught`: a test failed. `survived`: all tests passed. `broken`: the run had no result. */
export type Verdict = "caught" | "survived" | "broken"

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

/** The verdict of a test run over a mutated source. A run that exceeds its time counts as caught. */
export const verdict = (run: Pick<VitestRun, "code" | "report">): Verdict => {
  if (run.code === undefined) return "caught"
  const tests = run.report?.testResults.flatMap((file) => file.assertionResults) ?? []
  if (tests.some((test) => test.status === "failed")) return "caught"
  return tests.length > 0 && tally(run).failed === 0 ? "survived" : "broken"
}
