/**
 * The scenarios, their tests and the results.
 *
 * @module
 */
import type { Report } from "../scripts/Vitest.ts"
import { present } from "../support/Present.ts"

/** The result of a scenario. */
export type Result = "passed" | "failed" | "deviation" | "missing"

/** A scenario with its tests. */
export interface Row {
  readonly id: string
  readonly test: string
  readonly result: Result
}

/** The ids of all scenarios, in the order in which they are listed. */
export const scenarioIds = (scenarios: string): ReadonlyArray<string> =>
  [...scenarios.matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map((match) => present(match[1]))

/** The ids at the beginning of a test's title: `B1 …`, or `C12, C13 …`. */
export const idsOf = (title: string): ReadonlyArray<string> =>
  /^[A-Z]\d+(?:, [A-Z]\d+)*(?= )/.exec(title)?.[0].split(", ") ?? []

/** The ids of the deviations, each with the reason. */
export const deviations = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^- \*\*([A-Z]\d+)\*\* (\S.*)$/gm)].map((match) => [present(match[1]), present(match[2])]))

/** Expands letters (`B`) and ranges (`C1-C18`, or `C1`) to ids. */
export const expand = (ranges: ReadonlyArray<string>, ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  const wanted = ranges.map(bounds)
  return ids.filter((id) => wanted.some(({ first, last, letter }) => id[0] === letter && numberOf(id) >= first && numberOf(id) <= last))
}

const bounds = (range: string) => {
  const parts = /^([A-Z])(?:(\d+)(?:-\1(\d+))?)?$/.exec(range)
  if (parts === null) throw new Error(`"${range}" is no range of scenarios: write B, C1 or C1-C18`)
  const [, letter, first, last] = parts
  return { letter, first: Number(first ?? 0), last: Number(last ?? first ?? Number.POSITIVE_INFINITY) }
}

const numberOf = (id: string): number => Number(id.slice(1))

/** Joins the scenarios, the report of their tests and the deviations. */
export const table = (
  ids: ReadonlyArray<string>,
  report: Report,
  deviating: ReadonlyMap<string, string>
): ReadonlyArray<Row> => {
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  return ids.map((id) => {
    const own = tests.filter((test) => idsOf(test.title).includes(id))
    if (own.length === 0) return { id, test: deviating.get(id) ?? "", result: deviating.has(id) ? "deviation" : "missing" }
    return {
      id,
      test: own.map((test) => test.title).join("; "),
      result: own.every((test) => test.status === "passed") ? "passed" : "failed"
    }
  })
}

/** The rows of finished scenarios that neither pass nor are listed as deviations. */
export const gaps = (rows: ReadonlyArray<Row>, finished: ReadonlyArray<string>): ReadonlyArray<Row> =>
  rows.filter((row) => finished.includes(row.id) && (row.result === "missing" || row.result === "failed"))
