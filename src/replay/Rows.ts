/**
 * Rows of the journal, the newest first.
 *
 * Numbers of empty beats are skipped, so there may be far fewer rows than
 * numbers; they are asked for in windows that grow while nothing is found, and
 * shrink before anything is read, so that few rows are in memory at a time.
 *
 * @module
 */
import type { Archive } from "../kernel/beat/Archive.ts"
import type { JournalRow } from "../persistence/Persistence.ts"

/** Numbers that are asked for at first. */
const WINDOW = 256

/**
 * The rows from a beat down to the oldest.
 *
 * @category getters
 * @since 0.1.0
 */
export function* downFrom({ store }: Pick<Archive, "store">, beat: number): Generator<JournalRow> {
  let window = WINDOW
  let to = beat
  while (to >= 0) {
    const from = Math.max(0, to - window + 1)
    if (window > WINDOW && holdsAny(store, from, to)) {
      window /= 4
      continue
    }
    const rows = window > WINDOW ? [] : [...store.scanJournal(from, to)]
    yield* rows.reverse()
    if (rows.length === 0) window *= 4
    to = from - 1
  }
}

const holdsAny = (store: Archive["store"], from: number, to: number): boolean => {
  for (const _ of store.scanJournal(from, to)) return true
  return false
}
