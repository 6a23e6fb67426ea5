/**
 * Keys in code-unit order, in chunks.
 *
 * @module
 */
/** The maximum number of keys of a chunk. */
const MAX_CHUNK = 512

/**
 * A set of keys in order. A change costs the search for its chunk and a move within it, however many keys there are.
 */
export class SortedKeys {
  /** No chunk is empty. */
  private readonly chunks: Array<Array<string>> = []

  constructor(keys: Iterable<string>) {
    const sorted = [...keys].sort()
    for (let i = 0; i < sorted.length; i += MAX_CHUNK / 2) this.chunks.push(sorted.slice(i, i + MAX_CHUNK / 2))
  }

  /** The keys after another one, in order. */
  *after(key: string): Iterable<string> {
    for (let at = this.chunkOf(key); at < this.chunks.length; at++) {
      const chunk = this.chunks[at] ?? []
      for (let i = firstAfter(chunk, key); i < chunk.length; i++) yield chunk[i] ?? ""
    }
  }

  add(key: string): void {
    const at = Math.min(this.chunkOf(key), this.chunks.length - 1)
    const chunk = this.chunks[at]
    if (chunk === undefined) return void this.chunks.push([key])
    const place = firstAfter(chunk, key)
    if (chunk[place - 1] === key) return
    chunk.splice(place, 0, key)
    if (chunk.length > MAX_CHUNK) this.chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK / 2))
  }

  delete(key: string): void {
    const at = this.chunkOf(key)
    const chunk = this.chunks[at]
    const place = chunk === undefined ? 0 : firstAfter(chunk, key) - 1
    if (chunk?.[place] !== key) return
    chunk.splice(place, 1)
    if (chunk.length === 0) this.chunks.splice(at, 1)
  }

  /** The place of the first chunk that ends with the key or after it. */
  private chunkOf(key: string): number {
    let [low, high] = [0, this.chunks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.chunks[middle]?.at(-1) ?? "") < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the index of the first key greater than `key`. */
export const firstAfter = <Key extends string | number>(keys: ReadonlyArray<Key>, key: Key): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = keys[middle]
    if (found !== undefined && found <= key) low = middle + 1
    else high = middle
  }
  return low
}
