/**
 * Differences between a recorded beat and its replay.
 *
 * @module
 */
import type * as Inspection from "../contract/Inspection.ts"
import type { RunLine } from "../kernel/journal/RunLine.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import type { CellRecord } from "../kernel/journal/CellLine.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"

/** The first difference between an entry and its replay. */
export type Difference = ReturnType<typeof Inspection.difference>["Type"]

/**
 * Returns the first difference between an entry and its replay; `undefined` if they are equal.
 */
export const between = (recorded: JournalRow, replayed: JournalRow): Difference | undefined => {
  const [was, is] = [Journal.hashedText(recorded.text), Journal.hashedText(replayed.text)]
  if (was === is) return recorded.hash === replayed.hash ? undefined : entryDiffers(recorded, "the digest", [recorded.hash, replayed.hash])
  const [before, after] = [Journal.parse(was), Journal.parse(is)]
  return ofRuns(before, after) ?? ofCells(before, after) ?? entryDiffers(recorded, "the entry", firstDifference(was, is))
}

/**
 * Returns the difference of a beat that failed in the replay.
 */
export const failed = (beat: number, error: unknown): Difference => ({
  beat,
  enzyme: (error as { readonly enzyme?: string }).enzyme,
  address: undefined,
  what: "the beat",
  recorded: "committed",
  replayed: `failed: ${(error as Error).message}`
})

const entryDiffers = ({ beat }: JournalRow, what: string, [recorded, replayed]: readonly [string, string]): Difference =>
  ({ beat, enzyme: undefined, address: undefined, what, recorded, replayed })

/** Returns the first run with a different outcome or different signals. */
const ofRuns = (before: Journal.Entry, after: Journal.Entry): Difference | undefined => {
  for (let i = 0; i < Math.max(before.runs.length, after.runs.length); i++) {
    const [was, is] = [resultOf(before.runs[i]), resultOf(after.runs[i])]
    if (was.line === is.line) continue
    const what = "how a run ended, what it returned or what it sent"
    const enzyme = was.enzyme ?? is.enzyme
    return { beat: before.beat, enzyme, address: undefined, what, recorded: was.result, replayed: is.result }
  }
  return undefined
}

/** Returns a line's enzyme, the text of its result and its whole text. */
const resultOf = (line: RunLine | undefined) => {
  const [, enzyme, ...result] = line ?? []
  return { enzyme, result: line === undefined ? "absent" : text(result), line: text(line) }
}

/** Returns the first cell with a different value. */
const ofCells = (before: Journal.Entry, after: Journal.Entry): Difference | undefined => {
  const cells = new Map(Records.cellsOf(after).map((cell) => [cell.key, cell]))
  for (const cell of Records.cellsOf(before)) {
    const other = cells.get(cell.key)
    cells.delete(cell.key)
    if (text(cell) !== text(other)) return ofCell(before, cell, { recorded: text(cell.after), replayed: text(other?.after) })
  }
  const [extra] = cells.values()
  return extra === undefined ? undefined : ofCell(before, extra, { recorded: "absent", replayed: text(extra.after) })
}

const ofCell = (
  entry: Journal.Entry,
  { key, writers }: CellRecord,
  values: Pick<Difference, "recorded" | "replayed">
): Difference => {
  const enzyme = Records.ownRunsOf(entry)[writers.at(-1) ?? -1]?.enzyme
  return { beat: entry.beat, enzyme, address: key, what: "a cell", ...values }
}

const text = (value: unknown): string => value === undefined ? "absent" : JSON.stringify(value)

/** Returns both texts from their first difference on, truncated. */
const firstDifference = (a: string, b: string): readonly [string, string] => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const from = Math.max(0, at - 40)
  return [a.slice(from, at + 120), b.slice(from, at + 120)]
}
