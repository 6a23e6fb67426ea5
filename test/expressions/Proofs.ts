/**
 * The proofs that an expression takes linear time.
 *
 * A proof takes up to seconds and depends on the expression and the checker alone, so it is kept with both in `proofs.json`.
 * `node test/scripts/run.mjs test/expressions/prove.ts` proves and keeps new ones.
 *
 * The checker decides most expressions by an automaton. Where that becomes too large, it searches for a slow text for some time, with
 * a result that differs from run to run.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { checkSync } from "recheck"
import type { Expression } from "./Expressions.ts"

/** The flags that change no number of steps, and that the checker does not know. */
const IRRELEVANT = /[dgv]/g

const kept = join(import.meta.dirname, "proofs.json")

const { version } = createRequire(import.meta.url)("recheck/package.json") as { readonly version: string }

type Pattern = Pick<Expression, "flags" | "source">

/** How the checker proved an expression. */
export type Kind = "automaton" | "fuzz"

/** The literal of an expression. */
export const literal = ({ flags, source }: Pattern): string => `/${source}/${flags}`

/** The kind of the proof of an expression, or the steps that it takes in the length of its text. */
export const judged = ({ flags, source }: Pattern): { readonly proved: Kind } | { readonly steps: string } => {
  const found = checkSync(source, flags.replaceAll(IRRELEVANT, ""), { timeout: 60_000 })
  if (found.status === "unknown") return { steps: `unknown: ${found.error.kind}` }
  return found.status === "vulnerable" ? { steps: found.complexity.summary } : { proved: found.checker }
}

/** The kept proofs of this version of the checker, by literal. */
export const read = (): ReadonlyMap<string, Kind> => {
  const { checker, proofs } = JSON.parse(readFileSync(kept, "utf8")) as { readonly checker: string; readonly proofs: Record<string, Kind> }
  return new Map(checker === version ? Object.entries(proofs) : [])
}

/** Keeps proofs. */
export const write = (proofs: ReadonlyMap<string, Kind>): void => {
  const sorted = Object.fromEntries([...proofs].sort(([a], [b]) => a < b ? -1 : 1))
  writeFileSync(kept, `${JSON.stringify({ checker: version, proofs: sorted }, null, 2)}\n`)
}
