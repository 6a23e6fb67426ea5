/**
 * Rows as text, in columns.
 *
 * @module
 */

/** The rows below their headings, in aligned columns. Columns of numbers are right-aligned. */
export const render = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]!.length)))
  const right = headings.map((_, i) => rows.length > 0 && rows.every((row) => /^-?[\d.,]*$/.test(row[i]!)))
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, i) => right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)).join("  ").trimEnd()
  return [headings, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("\n")
}
