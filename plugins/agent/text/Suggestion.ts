/**
 * Suggestions: the known word that is most similar to an unknown one.
 *
 * @module
 */

/** The length above which a word is compared with none. */
const MAX_LENGTH = 40

/** The maximum number of edits between a word and its suggestion. */
const MAX_EDITS = 3

/** Returns the most similar of the known words, in any letter case; undefined if none is similar. */
export const closest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > MAX_LENGTH) return undefined
  const lower = word.toLowerCase()
  const [best] = known
    .filter((candidate) => Math.abs(candidate.length - lower.length) <= MAX_EDITS)
    .map((candidate) => ({ candidate, edits: distance(lower, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.min(MAX_EDITS, candidate.length / 2))
    .toSorted((a, b) => a.edits - b.edits)
  return best?.candidate
}

/** The number of edits between two words: letters that are left out, added, replaced, or exchanged with the next one. */
export const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isExchange = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1
      const exchange = isExchange ? (before[j - 2] ?? 0) + 1 : substitution
      next.push(Math.min(substitution, exchange, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
