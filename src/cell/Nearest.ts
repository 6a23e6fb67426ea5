/**
 * The nearest of several texts to a mistyped one.
 *
 * @module
 */

/** The most texts that are compared, and the most characters of each, so that the search takes about a millisecond. */
const MAX_TEXTS = 200
const MAX_LENGTH = 80

/** The number of edits between two texts, each of one character or an exchange of two neighbours; `most` if there are as many or more. */
const distance = (a: string, b: string, most: number): number => {
  if (Math.abs(a.length - b.length) >= most) return most
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + change, isExchange ? before[j - 2]! + 1 : most))
    }
    [before, row] = [row, next]
    if (Math.min(...row) >= most) return most
  }
  return Math.min(row[b.length]!, most)
}

/**
 * The text that differs least from another one; `undefined` if each differs in over a third of its characters.
 *
 * Of equally near ones it is the first. Compares the first 200 texts by their first 80 characters.
 *
 * @category getters
 * @since 0.2.0
 */
export const of = (text: string, among: Iterable<string>): string | undefined => {
  const asked = text.slice(0, MAX_LENGTH)
  let best = Math.floor(asked.length / 3) + 1
  let nearest: string | undefined
  let compared = 0
  for (const other of among) {
    if (compared++ === MAX_TEXTS) break
    const edits = distance(asked, other.slice(0, MAX_LENGTH), best)
    if (edits < best) [best, nearest] = [edits, other]
  }
  return nearest
}
