/**
 * The history of a space, as a server verifies and replays it.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite"

/** Reads a path of a space as JSON. */
export type Get = (path: string) => Promise<unknown>

/** The most beats of one replay. */
const REPLAYED = 10_000

/** The faults of the journal. */
export const verified = async (get: Get): Promise<ReadonlyArray<string>> => {
  const { fault } = await get("/journal/verification") as { readonly fault?: unknown }
  return fault === undefined ? [] : [`the journal does not hold: ${JSON.stringify(fault)}`]
}

/** The faults of a database file. */
export const damage = (file: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare("PRAGMA integrity_check").all().map((row) => String(row["integrity_check"]))
  database.close()
  return rows.filter((row) => row !== "ok")
}

/** The first difference of a replay of the whole journal, `beats` in each request. */
export const replayed = async (get: Get, beats = REPLAYED): Promise<ReadonlyArray<string>> => {
  for (let from = 0; ; from += beats) {
    const answer = await get(`/replay?from=${from}&to=${from + beats - 1}`)
    const { code, difference, to } = answer as { readonly code?: string; readonly difference?: unknown; readonly to?: number }
    // The journal may end with the last beat of the pages before.
    if (code === "beat/absent" && from > 0) return []
    if (difference !== undefined || to === undefined) return [`the replay from ${from} ends with ${JSON.stringify(answer).slice(0, 500)}`]
    if (to < from + beats - 1) return []
  }
}
