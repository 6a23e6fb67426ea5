/**
 * The number of runs by their outcomes.
 *
 * @module
 */
import type { Outcome } from "./InFlight.ts"

/** The kinds of outcomes. */
export const kinds = ["ok", "waits", "conflict", "retry", "dead", "fatal"] as const satisfies ReadonlyArray<Outcome["kind"]>

/** The number of runs of each kind. */
export type RunEnds = Record<Outcome["kind"], number>

/** No runs. */
export const none = (): RunEnds => ({ ok: 0, waits: 0, conflict: 0, retry: 0, dead: 0, fatal: 0 })

/** Counts the handlings that ran, by what the merge made of them. */
export const of = (runs: ReadonlyArray<{ readonly draft?: object | undefined; readonly outcome: Outcome }>): RunEnds => {
  const ends = none()
  for (const { draft, outcome } of runs) if (draft !== undefined) ends[outcome.kind]++
  return ends
}

/** Adds the numbers of one beat to those of several. */
export const add = (sum: RunEnds, ends: RunEnds): void => {
  for (const kind of kinds) sum[kind] += ends[kind]
}
