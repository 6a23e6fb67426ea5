/**
 * A filter over the ids that are taken: it says of most new ids that they are
 * free, so that the database is asked about few.
 *
 * It may only ever say "maybe" of an id that is taken, so it answers nothing
 * before it has seen all that is stored. It reads that a few ids at a time,
 * while new ones come: opening a store costs little, whatever is in it. It has
 * room for several times the ids that were stored at its beginning; when that is
 * full, another of fitting size is made in the same way and takes its place.
 *
 * @module
 */

/** Bits for each id: with two of them set for one, about one free id in sixty looks taken. */
const BITS = 16

/** Ids that a filter is made for: the least, and the most, beyond which there is none. 16 MiB of bits at most. */
const LEAST = 512
const MOST = 8_388_608

/** How many times the ids that are stored it has room for, where that is no more than the most. */
const GROWTH = 4

/** Stored ids that are read for each new one, and at least at a time. */
const READ = 4
const PAGE = 64

/** Ids as they are stored, each with a number that grows. */
export interface StoredIds {
  /** How many there are, about. */
  readonly size: () => number
  /** Those whose numbers come after `after`, in order, and `limit` at least; fewer where there are no more. */
  readonly page: (after: number, limit: number) => ReadonlyArray<readonly [number: number, id: string]>
  /** 32 bits that tell them apart: {@link hashOf}, unless there is a faster one. */
  readonly hash?: (id: string) => number
}

class Bits {
  /** New ids that it takes before another is to be made. */
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
 * Says which ids are free for sure.
 *
 * @category models
 * @since 0.1.0
 */
export class IdFilter {
  private readonly stored: StoredIds
  private readonly hash: (id: string) => number
  /** Has seen all ids. */
  private whole: Bits | undefined
  /** Has seen those up to `cursor`, and the new ones. */
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

  /** Takes in the ids that are being stored. */
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
 * FNV-1a by code units from the one at `start` on, well mixed: 32 bits with a sign.
 *
 * @category getters
 * @since 0.1.0
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
