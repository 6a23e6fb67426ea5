/**
 * Iteration over journal rows, newest first.
 *
 * Empty beats have no row, so rows may be sparse. They are read in windows that grow while no row is found and shrink
 * before a row is read. Few rows are therefore in memory at a time.
 *
 * @module
 */
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { JournalRow } from "../persistence/Persistence.ts"

/** The initial size of a window, in beats. */
const WINDOW = 256

/**
 * Iterates from the row of a beat down to the oldest.
 */
export function* downFrom({ store }: Pick<HistorySource, "store">, beat: number): Generator<JournalRow> {
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

const holdsAny = (store: HistorySource["store"], from: number, to: number): boolean => {
  for (const _ of store.scanJournal(from, to)) return true
  return false
}
