/**
 * `systole/cells` in a page: declarations give paths, and check no value. So a page contains no code of types.
 *
 * The names are those of `index.ts`, which has their types.
 *
 * @module
 */
import * as Name from "./Name.ts"

export { Schema } from "./PageSchema.ts"

/** The path of a declaration, or of one cell or signal of it. */
class Path {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** The one with these names. */
  at(given: Readonly<Record<string, string>>): Path {
    return new Path(this.path.split("/").map((segment) => segment.startsWith(":") ? named(segment, given) : segment).join("/"))
  }

  toString(): string {
    return this.path
  }
}

const named = (segment: string, given: Readonly<Record<string, string>>): string => {
  const value = given[segment.slice(1)]
  const reason = value === undefined ? "it has no value" : Name.refusal(value)
  if (value === undefined || reason !== undefined) throw new TypeError(`${segment} names nothing: ${reason}`)
  return value
}

const make = (path: string): Path => new Path(path)

/** The part of a value with a key. */
const into = (cell: Path, key: string | number): Path => {
  const part = String(key).replaceAll("~", "~0").replaceAll("/", "~1")
  return new Path(`${cell.path}${cell.path.includes("#") ? "" : "#"}/${part}`)
}

export const Cell = { make, of: make, family: make, into }
export const Signal = { make }
export const Link = { make: (address: string) => ({ $link: address }) }
