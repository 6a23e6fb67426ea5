/**
 * A binary heap: the smallest item first.
 *
 * @module
 */

/**
 * Items ordered by `compare`. Insertion and removal take logarithmic time.
 */
export class Heap<A> {
  private readonly items: Array<A> = []
  private readonly compare: (a: A, b: A) => number

  constructor(compare: (a: A, b: A) => number) {
    this.compare = compare
  }

  get size(): number {
    return this.items.length
  }

  peek(): A | undefined {
    return this.items[0]
  }

  /** Tests whether one item satisfies the predicate, in linear time. */
  some(holds: (item: A) => boolean): boolean {
    return this.items.some(holds)
  }

  /** All items, in no order. */
  [Symbol.iterator](): Iterator<A> {
    return this.items[Symbol.iterator]()
  }

  push(item: A): void {
    const { compare, items } = this
    let place = items.push(item) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = items[above]
      if (parent === undefined || compare(item, parent) >= 0) break
      items[place] = parent
      place = above
    }
    items[place] = item
  }

  /** Removes all items that the predicate rejects, in linear time. */
  retain(isKept: (item: A) => boolean): void {
    for (const item of this.items.splice(0).filter(isKept)) this.push(item)
  }

  pop(): A | undefined {
    const { compare, items } = this
    const first = items[0]
    const last = items.pop()
    if (first === undefined || last === undefined || items.length === 0) return first
    let place = 0
    for (;;) {
      let next = 2 * place + 1
      let least = next < items.length ? items[next] : undefined
      if (least === undefined) break
      const right = next + 1 < items.length ? items[next + 1] : undefined
      if (right !== undefined && compare(right, least) < 0) {
        least = right
        next++
      }
      if (compare(least, last) >= 0) break
      items[place] = least
      place = next
    }
    items[place] = last
    return first
  }
}
