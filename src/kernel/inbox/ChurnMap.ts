/**
 * A map for entries with short lives.
 *
 * When a `Map` grows or shrinks, it moves to a new table, and the old table points to
 * the new one. Once such a table reaches the old generation, it keeps all its successors
 * and their entries alive until a full collection. All events would thus be promoted. A
 * periodic copy breaks that chain.
 *
 * @module
 */

/** Least number of removals before a copy. A larger map is copied after as many removals as it has entries. */
const LEAST = 256

/**
 * The part of the interface of `Map` that queues of short-lived entries need.
 */
export class ChurnMap<K, V> {
  private map = new Map<K, V>()
  private left = LEAST

  get size(): number {
    return this.map.size
  }

  get(key: K): V | undefined {
    return this.map.get(key)
  }

  has(key: K): boolean {
    return this.map.has(key)
  }

  set(key: K, value: V): void {
    this.map.set(key, value)
  }

  delete(key: K): boolean {
    if (!this.map.delete(key)) return false
    if (--this.left === 0) {
      this.map = new Map(this.map)
      this.left = Math.max(LEAST, this.map.size)
    }
    return true
  }

  keys(): Iterable<K> {
    return this.map.keys()
  }

  values(): Iterable<V> {
    return this.map.values()
  }
}
