/**
 * A first-in, first-out queue with constant cost at both ends.
 *
 * @module
 */

/**
 * An array with a moving front.
 */
export class Queue<A> {
  private items: Array<A | undefined> = []
  private front = 0

  get size(): number {
    return this.items.length - this.front
  }

  push(item: A): void {
    this.items.push(item)
  }

  /** Inserts items before all others. */
  prepend(items: ReadonlyArray<A>): void {
    if (items.length <= this.front) {
      this.front -= items.length
      for (let i = 0; i < items.length; i++) this.items[this.front + i] = items[i]
    } else {
      this.items = [...items, ...this.items.slice(this.front)]
      this.front = 0
    }
  }

  peek(): A | undefined {
    return this.items[this.front]
  }

  /** At most `count` items from the front; they stay in the queue. */
  first(count: number): ReadonlyArray<A> {
    return this.items.slice(this.front, this.front + count) as ReadonlyArray<A>
  }

  shift(): A | undefined {
    if (this.front === this.items.length) return undefined
    const item = this.items[this.front]
    this.items[this.front++] = undefined
    // The array shrinks once its taken part outweighs the rest.
    if (this.front === this.items.length) this.clear()
    else if (this.front > 1024 && this.front * 2 > this.items.length) {
      this.items = this.items.slice(this.front)
      this.front = 0
    }
    return item
  }

  /** Removes the items that a test does not keep. The cost is that of all items. */
  filter(isKept: (item: A) => boolean): void {
    this.items = (this.items.slice(this.front) as Array<A>).filter(isKept)
    this.front = 0
  }

  private clear(): void {
    this.items = []
    this.front = 0
  }
}
