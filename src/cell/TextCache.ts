/**
 * Caches by texts from outside.
 *
 * Each beat meets the same few addresses and paths, and a client may send ever new ones. So a cache is bounded in its entries and
 * in the characters of its texts, and is cleared when it is full.
 *
 * @module
 */

/** The average length of a text for which a cache of so many entries has room, in characters. */
const AVERAGE = 64

/**
 * A cache that keeps at most so many entries, with texts of at most 64 times as many characters together.
 */
export class TextCache<A> {
  private readonly known = new Map<string, A>()
  private readonly entries: number
  private left: number

  constructor(entries: number) {
    this.entries = entries
    this.left = AVERAGE * entries
  }

  get size(): number {
    return this.known.size
  }

  get(text: string): A | undefined {
    return this.known.get(text)
  }

  /** Keeps the value of a text. A further value of a text counts as a further text. */
  set(text: string, value: A): void {
    if (this.known.size >= this.entries || this.left < text.length) {
      this.known.clear()
      this.left = AVERAGE * this.entries
    }
    // A text longer than the whole cache has room for would stay above the bound.
    if (this.left < text.length) return
    this.left -= text.length
    this.known.set(text, value)
  }
}
