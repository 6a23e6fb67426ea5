/**
 * Mutations of the source: one line made wrong, which some test has to notice.
 *
 * @module
 */
import type { VitestRun } from "../scripts/Vitest.ts"
import { tally } from "../scripts/Vitest.ts"

/** One line of one file, made wrong, and the tests that have to fail for it. */
export interface Mutant {
  /** What is broken, in a few words. */
  readonly name: string
  /** The file, from the project's root. */
  readonly file: string
  /** A text on one line that the file holds exactly once. */
  readonly find: string
  readonly replace: string
  /** The tests that run: parts of the paths of their files. */
  readonly tests: ReadonlyArray<string>
}

/** `caught`: a test failed. `survived`: all passed. `broken`: nothing could be told. */
export type Verdict = "caught" | "survived" | "broken"

/** How often a text holds another one. */
export const occurrences = (text: string, find: string): number => text.split(find).length - 1

/** The text with the mutation made, or why it cannot be. */
export const apply = (mutant: Mutant, text: string): { readonly text: string } | { readonly refused: string } => {
  if (mutant.find === "" || mutant.find.includes("\n")) return { refused: "what it finds is not within one line" }
  if (mutant.find === mutant.replace) return { refused: "it changes nothing" }
  const count = occurrences(text, mutant.find)
  if (count !== 1) return { refused: `${mutant.file} holds what it finds ${count} times instead of once` }
  return { text: text.replace(mutant.find, () => mutant.replace) }
}

/** What a run of the tests over a mutated source tells. One that does not end in time has noticed, too. */
export const verdict = (run: Pick<VitestRun, "code" | "report">): Verdict => {
  if (run.code === undefined) return "caught"
  const tests = run.report?.testResults.flatMap((file) => file.assertionResults) ?? []
  if (tests.some((test) => test.status === "failed")) return "caught"
  return tests.length > 0 && tally(run).failed === 0 ? "survived" : "broken"
}
