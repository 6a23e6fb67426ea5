/**
 * Places in the code of modules, such as of an error that a run throws.
 *
 * @module
 */
import * as Printable from "./Printable.ts"

/**
 * A place in the code of a module.
 */
export interface CodePlace {
  /** The file from the folder of the project on, its line and its column, both from 1 on: `lib/price.ts:6:33`. */
  readonly place: string
  /** The text of the line, if the host has it. */
  readonly source?: string
}

/** The most characters of a source line. */
const MAX_SOURCE = 160

/**
 * A place with the text of its line: without indentation, and of a long one the 160 characters around the column.
 */
export const make = (place: string, line: string | undefined, column: number): CodePlace => {
  if (line === undefined) return { place }
  const from = Math.max(0, Math.min(column - 1 - MAX_SOURCE / 2, line.length - MAX_SOURCE))
  const source = line.slice(from, from + MAX_SOURCE).trim().toWellFormed()
  return source === "" ? { place } : { place, source }
}

/** The line number of a place. */
const number = /:(\d{1,9}):\d{1,9}$/

/**
 * The source lines of places, each with its number, below a message: `    6 | if (item === undefined) throw …`.
 */
export const lines = (places: ReadonlyArray<CodePlace>): ReadonlyArray<string> =>
  places.flatMap(({ place, source }) => {
    const [, line = ""] = number.exec(place) ?? []
    return source === undefined ? [] : [`    ${line} | ${Printable.line(source)}`]
  })

/**
 * The place of a failure below its message, with the source line; empty if the host reported none.
 */
export const below = ({ place, source }: Partial<CodePlace> = {}): ReadonlyArray<string> =>
  place === undefined ? [] : [`  at ${place}`, ...lines([{ place, ...source === undefined ? {} : { source } }])]
