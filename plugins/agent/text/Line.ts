/**
 * Lines of a text, with the offsets of their ends.
 *
 * Lines end with LF, CRLF or CR, as in CommonMark. A byte order mark belongs to no line. Offsets count UTF-16 code units.
 *
 * @module
 */

/** A half-open range of a text: `text.slice(start, end)`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A line: its text is `slice(start, end)`, and its end of line `slice(end, next)`. */
export interface Line extends Span {
  readonly next: number
}

/** A text and its lines. */
export interface Source {
  readonly text: string
  readonly lines: ReadonlyArray<Line>
}

const LF = 10
const CR = 13
const BOM = 0xfeff

/** Splits a text into lines. A text that ends with an end of line has no empty line behind it. */
export const split = (text: string): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let start = text.charCodeAt(0) === BOM ? 1 : 0
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code !== LF && code !== CR) continue
    const next = code === CR && text.charCodeAt(i + 1) === LF ? i + 2 : i + 1
    lines.push({ start, end: i, next })
    start = next
    i = next - 1
  }
  if (start < text.length) lines.push({ start, end: text.length, next: text.length })
  return lines
}

/** Returns the index of the line that holds an offset; the last line for an offset at the end of the text. */
export const indexOf = (lines: ReadonlyArray<Line>, offset: number): number => {
  let low = 0
  let high = lines.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((lines[middle]?.start ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns the line and the column of an offset, both from 1. */
export const positionOf = (lines: ReadonlyArray<Line>, offset: number): { readonly line: number; readonly column: number } => {
  const index = indexOf(lines, offset)
  return { line: index + 1, column: Math.max(offset - (lines[index]?.start ?? 0), 0) + 1 }
}

/** The end of line that a text uses first; LF for a text of one line. */
export const eolOf = (text: string, lines: ReadonlyArray<Line>): string => {
  const [first] = lines
  return first === undefined || first.next === first.end ? "\n" : text.slice(first.end, first.next)
}
