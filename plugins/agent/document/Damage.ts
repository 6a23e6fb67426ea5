/**
 * Bytes that are no text of a control file: damage, another encoding, and an emptied file.
 *
 * @module
 */
import * as Frontmatters from "../text/Frontmatter.ts"
import * as Lines from "../text/Line.ts"

/**
 * A finding about bytes.
 *
 * - `damaged`: no person writes such bytes. The latest valid version takes their place.
 * - `encoding`: a person saved the file in another encoding. It stays as it is, and nothing runs.
 * - `blank`: a person emptied the file, or a save is in progress. It has no actions.
 */
export interface Damage {
  readonly kind: "damaged" | "encoding" | "blank"
  readonly reason: string
}

/** The marks of encodings at the beginning of a file, the longest first. */
const MARKS: ReadonlyArray<readonly [name: string, bytes: ReadonlyArray<number>]> = [
  ["UTF-32", [0xff, 0xfe, 0, 0]],
  ["UTF-32", [0, 0, 0xfe, 0xff]],
  ["UTF-16", [0xff, 0xfe]],
  ["UTF-16", [0xfe, 0xff]]
]

/** Whether each second one of the first bytes is NUL, as those of Latin letters are in UTF-16. */
const isWide = (bytes: Uint8Array, nul: 0 | 1): boolean => {
  const first = [...bytes.subarray(0, WIDE)]
  return first.length === WIDE && first.every((byte, i) => (byte === 0) === (i % 2 === nul))
}

const WIDE = 8

const wideEncodingOf = (bytes: Uint8Array): string | undefined =>
  MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))?.[0] ?? (isWide(bytes, 0) || isWide(bytes, 1) ? "UTF-16" : undefined)

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The beginning of a mark of frontmatter. */
const CUT_MARK = /^-{1,2}$/

/**
 * Examines the bytes of a file; `undefined` for a text that is not blank.
 */
export const of = (bytes: Uint8Array): Damage | undefined => {
  const wide = wideEncodingOf(bytes)
  if (wide !== undefined) return { kind: "encoding", reason: `its encoding is ${wide}, and not UTF-8` }
  if (bytes.includes(0)) return { kind: "damaged", reason: "it contains a NUL byte" }
  const text = textOf(bytes)
  if (text === undefined) {
    return { kind: "encoding", reason: "its encoding is not UTF-8, but perhaps Latin-1 or Windows-1252" }
  }
  if (text.trim() === "") return { kind: "blank", reason: "it is empty" }
  return CUT_MARK.test(text) || Frontmatters.isCut(text, Lines.split(text))
    ? { kind: "damaged", reason: "its frontmatter is cut off" }
    : undefined
}
