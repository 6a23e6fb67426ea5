/**
 * A map whose entries come and go all the time.
 *
 * A `Map` that grows or shrinks moves to another table, and the table it leaves
 * points to the new one for iterations under way. Where such a table has come of
 * age, it keeps alive all those after it, each with what was in it, until the
 * whole heap is collected: all events would pass into the old generation. A copy
 * from time to time ends such a chain.
 *
 * @module
 */

/** Removals after which it is copied; as many as it has entries, where these are more. */
const LEAST = 256

/**
 * What of a `Map` is needed for what passes through.
 *
 * @category models
 * @since 0.1.0
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
