/**
 * Verification of the journal and the store against damage and manipulation.
 *
 * The digest of each entry must match its text, and each text contains the digest of its predecessor. The predecessor
 * of the oldest entry is the anchor: the newest pruned entry. All other rows have checksums.
 *
 * @module
 */
import type * as Inspection from "../contract/Inspection.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { Anchor, JournalRow } from "../persistence/Persistence.ts"
import { JournalVersion, PersistenceError } from "../persistence/PersistenceError.ts"

/** A fault of the journal or of another row of the store. */
export type Fault = NonNullable<Verification["fault"]>

/** The result of a verification. */
export type Verification = ReturnType<typeof Inspection.verificationResult>["Type"]

/**
 * Verifies every journal entry, from the oldest to the newest, and then all other rows of the store.
 *
 * @category combinators
 * @since 0.1.0
 */
export const verify = async ({ hash, rest, store }: Pick<HistorySource, "hash" | "rest" | "store">): Promise<Verification> => {
  const found = await ofJournal({ hash, rest, store })
  if (found.fault !== undefined) return found
  try {
    const pages = store.examine()[Symbol.iterator]()
    while (pages.next().done !== true) {
      const pause = rest()
      if (pause !== undefined) await pause
    }
  } catch (error) {
    return { ...found, fault: { code: "store/damaged", reason: damageIn(error) } }
  }
  return found
}

/** Returns the damage that an error reports; rethrows any other error. */
const damageIn = (error: unknown): string => {
  if (error instanceof PersistenceError && error.reason._tag === "StoreDamaged") return error.reason.detail
  throw error
}

const ofJournal = async ({ hash, rest, store }: Pick<HistorySource, "hash" | "rest" | "store">): Promise<Verification> => {
  const head = store.head()
  let first: number | undefined
  let last: number | undefined
  let entries = 0
  let before: Anchor = store.anchor()
  const found = (beat: number, reason: string, code: Fault["code"] = "journal/changed"): Verification =>
    ({ first, last, entries, fault: { code, beat, reason } })
  const rows = store.scanJournal(0, head.beat)[Symbol.iterator]()
  for (;;) {
    const row = read(rows)
    if (typeof row === "string") return found((last ?? store.anchor().beat) + 1, row)
    if (row === undefined) break
    const pause = rest()
    if (pause !== undefined) await pause
    first ??= row.beat
    entries++
    const digest = hash(Journal.hashedText(row.text))
    if (digest !== row.hash) return found(row.beat, `its text has the digest ${digest}, and ${row.hash} was written beside it`)
    const entry = parse(row.text)
    if (entry instanceof JournalVersion) return found(row.beat, entry.message, entry.code)
    if (entry === undefined || entry.beat !== row.beat) return found(row.beat, "its text is not the entry of this beat")
    // Pruning may have removed rows meanwhile.
    if (entry.prev !== before.hash) before = later(before, store.anchor())
    if (entry.prev !== before.hash) return found(row.beat, `it follows an entry with the digest ${entry.prev}, and ${named(before)}`)
    before = row
    last = row.beat
  }
  // All of it was pruned since, as where another host has the space by now.
  if (store.anchor().beat >= head.beat) return { first, last, entries, fault: undefined }
  if (last === undefined) return found(head.beat, "the journal holds no entry at all, and the space is at this beat")
  if (last !== head.beat || before.hash !== head.hash) {
    const space = `the space is at beat ${head.beat} with the digest ${head.hash}`
    return found(head.beat, `${space}, and the journal ends with beat ${last} and ${before.hash}`)
  }
  return { first, last, entries, fault: undefined }
}

/** Returns the next row, the reason why it cannot be read, or `undefined` at the end. */
const read = (rows: Iterator<JournalRow>): JournalRow | string | undefined => {
  try {
    const next = rows.next()
    return next.done === true ? undefined : next.value
  } catch (error) {
    return damageIn(error)
  }
}

const later = (one: Anchor, other: Anchor): Anchor => other.beat > one.beat ? other : one

const named = ({ beat, hash }: Anchor): string => beat < 0 ? "nothing was ever before it" : `beat ${beat}, the one before it, has ${hash}`

/** Returns the entry of a text, the reason why its version cannot be read, or `undefined` for a text that is no entry. */
const parse = (text: string): Journal.Entry | JournalVersion | undefined => {
  try {
    return Journal.parse(text)
  } catch (error) {
    return error instanceof PersistenceError && error.reason._tag === "JournalVersion" ? error.reason : undefined
  }
}
