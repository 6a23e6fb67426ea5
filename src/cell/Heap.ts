/**
 * A binary heap: the smallest item first.
 *
 * @module
 */

/**
 * Items in the order that `compare` gives, at the cost of a logarithm.
 *
 * @category models
 * @since 0.1.0
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

  /** Whether this holds for one of them, at the cost of a look at each. */
  some(holds: (item: A) => boolean): boolean {
    return this.items.some(holds)
  }

  push(item: A): void {
    const { compare, items } = this
    let place = items.push(item) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (compare(item, items[above]!) >= 0) break
      items[place] = items[above]!
      place = above
    }
    items[place] = item
  }

  /** Lets go of all others, at the cost of one look at each. */
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
      if (next >= items.length) break
      if (next + 1 < items.length && compare(items[next + 1]!, items[next]!) < 0) next++
      if (compare(items[next]!, last) >= 0) break
      items[place] = items[next]!
      place = next
    }
    items[place] = last
    return first
  }
}
