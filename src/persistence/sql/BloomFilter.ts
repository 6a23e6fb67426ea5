/**
 * A Bloom filter over the stored ids. It reports most new ids as unused, so few of them cost a query.
 *
 * A stored id must never be reported as unused, so the filter gives no answer before it has read all stored ids. It
 * reads a few stored ids for each new one, so opening a store is cheap at any size.
 *
 * The filter has room for several times the ids that were stored when it started. When it is full, a filter of a larger
 * size is built in the same way and replaces it.
 *
 * @module
 */

/** Bits per id. Two bits are set for each id, so about one unused id in sixty looks used. */
const BITS = 16

/** The minimum and maximum capacity in ids; more ids have no filter. The maximum is 16 MiB of bits. */
const LEAST = 512
const MOST = 8_388_608

/** The ratio of capacity to stored ids, up to the maximum capacity. */
const GROWTH = 4

/** Stored ids read per new id, and the minimum per read. */
const READ = 4
const PAGE = 64

/** The stored ids, each with an increasing number. */
export interface StoredIds {
  /** Returns their approximate count. */
  readonly size: () => number
  /** Returns at least `limit` ids with numbers after `after`, in order; fewer if there are no more. */
  readonly page: (after: number, limit: number) => ReadonlyArray<readonly [number: number, id: string]>
  /** Computes 32 bits from an id; defaults to {@link hashOf}. */
  readonly hash?: (id: string) => number
}

class Bits {
  /** The number of new ids until the next filter is built. */
  left: number
  private readonly words: Uint32Array
  private readonly mask: number

  constructor(ids: number, stored: number) {
    this.left = ids - stored
    const bits = 2 ** Math.ceil(Math.log2(ids * BITS))
    this.words = new Uint32Array(bits / 32)
    this.mask = bits - 1
  }

  add(hash: number): void {
    const { mask, words } = this
    const one = hash & mask
    const two = spread(hash) & mask
    words[one >>> 5]! |= 1 << (one & 31)
    words[two >>> 5]! |= 1 << (two & 31)
  }

  has(hash: number): boolean {
    const { mask, words } = this
    const one = hash & mask
    if ((words[one >>> 5]! & 1 << (one & 31)) === 0) return false
    const two = spread(hash) & mask
    return (words[two >>> 5]! & 1 << (two & 31)) !== 0
  }
}

/**
 * Reports ids that are certainly unused.
 */
export class BloomFilter {
  private readonly stored: StoredIds
  private readonly hash: (id: string) => number
  /** The filter that has read all ids. */
  private whole: Bits | undefined
  /** The filter under construction: it has the ids up to `cursor`, and the new ones. */
  private next: Bits | undefined
  private cursor = 0

  constructor(stored: StoredIds) {
    this.stored = stored
    this.hash = stored.hash ?? hashOf
    this.add([])
  }

  mayHave(id: string): boolean {
    return this.whole === undefined || this.whole.has(this.hash(id))
  }

  /** Adds ids that are being stored. */
  add(ids: ReadonlyArray<string>): void {
    if (ids.length === 0 && this.whole !== undefined) return
    if (this.next === undefined && (this.whole === undefined || this.whole.left <= 0)) this.begin()
    for (const bits of [this.whole, this.next]) {
      if (bits === undefined) continue
      bits.left -= ids.length
      for (const id of ids) bits.add(this.hash(id))
    }
    if (this.next !== undefined) this.read(this.next, READ * ids.length + PAGE)
  }

  private begin(): void {
    const size = this.stored.size()
    if (size > MOST / 2) this.whole = undefined
    else this.next = new Bits(Math.min(Math.max(GROWTH * size, LEAST), MOST), size)
    this.cursor = 0
  }

  private read(bits: Bits, limit: number): void {
    const page = this.stored.page(this.cursor, limit)
    for (const [number, id] of page) {
      bits.add(this.hash(id))
      this.cursor = number
    }
    if (page.length >= limit) return
    this.whole = bits
    this.next = undefined
  }
}

/**
 * FNV-1a over code units from index `start`, mixed: a signed 32-bit integer.
 */
export const hashOf = (id: string, start = 0): number => {
  let hash = 0x811c9dc5
  for (let i = start; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return spread(hash)
}

const spread = (hash: number): number => {
  const mixed = Math.imul(hash ^ hash >>> 16, 0x7feb352d)
  const more = Math.imul(mixed ^ mixed >>> 15, 0x846ca68b)
  return more ^ more >>> 16
}
