/**
 * Verification: whether the journal is what the runtime wrote.
 *
 * Each entry's digest is that of its text, and each text holds the digest of the
 * entry before; the oldest holds that of the anchor, which is the newest that
 * pruning took. (Architecture, section 9.)
 *
 * @module
 */
import type { Archive } from "../kernel/Archive.ts"
import * as Journal from "../kernel/Journal.ts"
import type { Anchor } from "../persistence/Persistence.ts"

/** What is wrong with the journal. */
export interface Fault {
  readonly beat: number
  readonly reason: string
}

/** What a verification found. */
export interface Verification {
  /** The first and the last beat that were looked at; `undefined` where there are none. */
  readonly first: number | undefined
  readonly last: number | undefined
  readonly entries: number
  /** The first fault; none where the journal holds. */
  readonly fault: Fault | undefined
}

/**
 * Checks every entry, from the oldest that is kept to the newest.
 *
 * @category combinators
 * @since 0.1.0
 */
export const verify = async ({ hash, rest, store }: Pick<Archive, "hash" | "rest" | "store">): Promise<Verification> => {
  const head = store.head()
  let first: number | undefined
  let last: number | undefined
  let entries = 0
  let before: Anchor = store.anchor()
  const found = (beat: number, reason: string): Verification => ({ first, last, entries, fault: { beat, reason } })
  for (const row of store.scanJournal(0, head.beat)) {
    const pause = rest()
    if (pause !== undefined) await pause
    first ??= row.beat
    entries++
    const digest = hash(Journal.hashed(row.text))
    if (digest !== row.hash) return found(row.beat, `its text has the digest ${digest}, and ${row.hash} was written beside it`)
    const entry = parse(row.text)
    if (entry === undefined || entry.beat !== row.beat) return found(row.beat, "its text is not the entry of this beat")
    // Meanwhile pruning may have taken what lay between.
    if (entry.prev !== before.hash) before = later(before, store.anchor())
    if (entry.prev !== before.hash) return found(row.beat, `it follows an entry with the digest ${entry.prev}, and ${named(before)}`)
    before = row
    last = row.beat
  }
  if (last === undefined && head.beat >= 0) return found(head.beat, "the journal holds no entry at all, and the space is at this beat")
  if (last !== undefined && store.anchor().beat < head.beat && (last !== head.beat || before.hash !== head.hash)) {
    return found(head.beat, `the space is at beat ${head.beat} with the digest ${head.hash}, and the journal ends with beat ${last} and ${before.hash}`)
  }
  return { first, last, entries, fault: undefined }
}

const later = (one: Anchor, other: Anchor): Anchor => other.beat > one.beat ? other : one

const named = ({ beat, hash }: Anchor): string => beat < 0 ? "nothing was ever before it" : `beat ${beat}, the one before it, has ${hash}`

const parse = (text: string): Journal.Parsed | undefined => {
  try {
    return Journal.parse(text)
  } catch {
    return undefined
  }
}
