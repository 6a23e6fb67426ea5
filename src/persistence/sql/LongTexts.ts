/**
 * Long texts of a SQL store: a text of more than 1 MiB of UTF-8 is stored in parts, because some databases accept rows of
 * at most 2,000,000 bytes.
 *
 * A row has the first part as its text, and its checksum covers the whole text. {@link mark} adds a constant to that
 * checksum, which shows the reader that there are more parts. A store without long texts has no table of parts.
 *
 * @module
 */
import type * as SqlSchema from "./SqlSchema.ts"

/** The most bytes of a text in one part. */
const LIMIT = 1_048_576

/** The most UTF-16 code units of a part: each is at most three bytes of UTF-8. */
const UNITS = Math.floor(LIMIT / 3)

/** Added to the checksum of a row with parts. */
const SPLIT = 2 ** 33

/** The largest checksum of a whole row. */
const LARGEST_SUM = 2 ** 31

/** The kinds of rows with texts. */
export type Kind = "cell" | "journal" | "queue" | "observation"

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

/** Whether a text has more bytes than one part may have. Only a text beyond a third of them is counted. */
const isLong = (text: string): boolean => {
  if (text.length <= UNITS) return false
  if (text.length > LIMIT) return true
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Both halves of a pair have two bytes.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes > LIMIT
}

/** The parts of a text. No part ends within a surrogate pair. */
const partsOf = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let start = 0; start < text.length;) {
    const end = start + UNITS
    const next = isHigh(text.charCodeAt(end - 1)) ? end - 1 : end
    parts.push(text.slice(start, next))
    start = next
  }
  return parts
}

const ownerOf = (kind: Kind, key: string | number): string => `${kind} ${key}`

/**
 * The checksum as stored: changed if the row has a part of its text only.
 */
export const mark = (sum: number, isWhole: boolean): number => isWhole ? sum : sum + SPLIT

/**
 * Whether a row has a part of its text only, from its checksum as stored.
 */
export const isMarked = (stored: number): boolean => stored > LARGEST_SUM

/**
 * The checksum of a stored one.
 */
export const unmark = (stored: number): number => isMarked(stored) ? stored - SPLIT : stored

/**
 * The whole text of a row, from its checksum and its text as stored.
 */
export const whole = (sql: SqlSchema.Statements, owner: readonly [kind: Kind, key: string | number], text: string): string =>
  // One flat text: of parts behind each other, each read of a character would look for its part.
  [text, ...sql.pieces.all(ownerOf(...owner)).map(([part]) => part as string)].join("")

/**
 * The parts of long texts in one store.
 */
export class LongTexts {
  private readonly sql: SqlSchema.Statements
  /** Creates the table of parts in the current transaction. */
  private readonly create: () => void
  /** Whether there is a table of parts. */
  hasTable: boolean
  /** Whether there may be parts. */
  private hasParts: boolean

  constructor(sql: SqlSchema.Statements, create: () => void, hasTable: boolean) {
    this.sql = sql
    this.create = create
    this.hasTable = hasTable
    this.hasParts = hasTable && sql.anyPiece.get() !== undefined
  }

  /** Stores the parts of a text after the first. The row has none, or they were dropped. Returns the text for the row. */
  put(kind: Kind, key: string | number, text: string): string {
    if (!isLong(text)) return text
    if (!this.hasTable) this.create()
    this.hasTable = this.hasParts = true
    const owner = ownerOf(kind, key)
    const [first = "", ...rest] = partsOf(text)
    rest.forEach((part, i) => this.sql.addPiece.run(owner, i, part))
    return first
  }

  /** Removes the parts of a row. */
  drop(kind: Kind, key: string | number): void {
    if (this.hasParts) this.sql.dropPieces.run(ownerOf(kind, key))
  }
}
