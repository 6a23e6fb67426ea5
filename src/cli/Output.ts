/**
 * The output of commands: data on standard output, messages on standard error.
 *
 * @module
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../diagnostic/Printable.ts"

/**
 * The flag `--json` of every command.
 */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print data as JSON, one value on each line"),
  Flag.withDefault(false)
)

/**
 * Prints data, as JSON or as text.
 */
export const data = (asJson: boolean, value: unknown, text: string | ReadonlyArray<string>): Effect.Effect<void> => {
  if (asJson) return Console.log(Printable.lines(JSON.stringify(value)))
  const lines = typeof text === "string" ? [text] : text
  return lines.length === 0 ? Effect.void : Console.log(Printable.lines(lines.join("\n")))
}

/**
 * Prints a message.
 */
export const note = (text: string): Effect.Effect<void> => Console.error(Printable.lines(text))

/**
 * Formats rows with aligned columns.
 */
export const table = (given: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = given.map((row) => row.map(Printable.line))
  const widths = rows.reduce<Array<number>>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), [])
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd())
}
