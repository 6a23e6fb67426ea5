/**
 * An ordered key-value database in memory, for a store that is written over one.
 *
 * @module
 */

/** A text or bytes. */
export type Entry = string | Uint8Array

/** Entries by key, in code-unit order. A write is atomic. */
export class KeyValue {
  private readonly entries = new Map<string, Entry>()
  private readonly keys: Array<string> = []

  get(key: string): Entry | undefined {
    return this.entries.get(key)
  }

  /** At most `limit` keys that begin with the prefix, from `from` on. */
  list(prefix: string, from = prefix, limit = Infinity): ReadonlyArray<string> {
    const start = this.seek(from)
    let end = start
    while (end - start < limit && this.keys[end]?.startsWith(prefix) === true) end++
    return this.keys.slice(start, end)
  }

  write(changes: ReadonlyMap<string, Entry | undefined>): void {
    for (const [key, entry] of changes) {
      if (entry !== undefined && !this.entries.has(key)) this.keys.splice(this.seek(key), 0, key)
      if (entry === undefined && this.entries.delete(key)) this.keys.splice(this.seek(key), 1)
      if (entry !== undefined) this.entries.set(key, entry)
    }
  }

  private seek(key: string): number {
    let [low, high] = [0, this.keys.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.keys[middle] ?? "") < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Changes that are written at once, and reads that see them. */
export class Changes {
  readonly all = new Map<string, Entry | undefined>()
  private readonly below: KeyValue

  constructor(below: KeyValue) {
    this.below = below
  }

  set(key: string, entry: Entry | undefined): void {
    this.all.set(key, entry)
  }

  get(key: string): Entry | undefined {
    return this.all.has(key) ? this.all.get(key) : this.below.get(key)
  }

  json<A>(key: string): A | undefined {
    return parsed<A>(this.get(key))
  }

  list(prefix: string, limit = Infinity): ReadonlyArray<string> {
    const keys = new Set(this.below.list(prefix))
    for (const [key, entry] of this.all) {
      if (!key.startsWith(prefix)) continue
      if (entry === undefined) keys.delete(key)
      else keys.add(key)
    }
    return [...keys].sort().slice(0, limit)
  }
}

/** The value of an entry. */
export const parsed = <A>(entry: Entry | undefined): A | undefined => entry === undefined ? undefined : JSON.parse(entry as string) as A
