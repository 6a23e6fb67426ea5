/**
 * The state of an import in a SQL store.
 *
 * It is part of the format in the row of `meta`: the format itself for a space, its negative for an import in progress, and that
 * less {@link WHOLE} for a complete one without a beat of its own. So a version without imports opens none of them. The note of the
 * importer is the row of a table that only such a store has.
 *
 * @module
 */
import type { Arrival } from "../Persistence.ts"
import type { SqlDriver } from "./SqlDriver.ts"

/** Taken from the negative format of a complete import. It is greater than each format. */
const WHOLE = 1000

/** A format with the state of an import. */
export interface MarkedFormat {
  readonly format: number
  readonly state: "space" | "importing" | "whole"
}

/** The format and the state of a stored number. */
export const read = (stored: number): MarkedFormat => {
  if (stored >= 0) return { format: stored, state: "space" }
  return stored < -WHOLE ? { format: -stored - WHOLE, state: "whole" } : { format: -stored, state: "importing" }
}

/** SQL for the number of a format with the present state. */
export const keeping = (format: number): string =>
  `CASE WHEN format >= 0 THEN ${format} WHEN format < -${WHOLE} THEN ${-format - WHOLE} ELSE ${-format} END`

/** SQL for the number of the present format with the state of a space. */
const SPACE = `CASE WHEN format >= 0 THEN format WHEN format < -${WHOLE} THEN -format - ${WHOLE} ELSE -format END`

/** The statements that make a store with new tables an import. */
export const create: ReadonlyArray<string> = [
  "CREATE TABLE arrival (id INTEGER PRIMARY KEY CHECK (id = 1), note TEXT NOT NULL) STRICT",
  "INSERT INTO arrival VALUES (1, '')",
  `UPDATE meta SET format = -(${SPACE})`
]

/** Reads the state of an import. */
export const find = ({ prepare }: Pick<SqlDriver, "prepare">, { state }: MarkedFormat): Arrival | undefined =>
  state === "space" ? undefined : { note: prepare("SELECT note FROM arrival").get()?.[0] as string, isWhole: state === "whole" }

/** Stores the state of an import, in the current transaction. */
export const put = ({ prepare }: Pick<SqlDriver, "prepare">, { isWhole, note }: Arrival): void => {
  prepare("UPDATE arrival SET note = ?").run(note)
  prepare(`UPDATE meta SET format = -(${SPACE})${isWhole ? ` - ${WHOLE}` : ""}`).run()
}

/** Makes a complete import a space, in the current transaction. */
export const end = ({ prepare }: Pick<SqlDriver, "prepare">): void => {
  prepare(`UPDATE meta SET format = ${SPACE}`).run()
  prepare("DROP TABLE arrival").run()
}
