/**
 * Bytes that arrived and were not taken yet, in one buffer.
 *
 * A party that sends single bytes costs no more memory than their number, and each byte is copied a bounded number of times.
 *
 * @module
 */

/** The size of the first buffer, in bytes. */
const FIRST = 1024

/** The largest buffer that is kept without bytes in it. */
const KEPT = 65_536

/** Bytes in the order of their arrival. */
export class Gathered {
  private buffer = Buffer.allocUnsafeSlow(0)
  private from = 0
  private to = 0

  /** The number of bytes. */
  get size(): number {
    return this.to - this.from
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.to)
    this.to += bytes.length
  }

  /** The place of a byte sequence at or after a place, from 0; −1 if there is none. */
  indexOf(bytes: Uint8Array, at: number): number {
    return this.buffer.subarray(this.from, this.to).indexOf(bytes, at)
  }

  /** The number of four bytes from the first on, big endian. */
  uint32(): number {
    return this.buffer.readUInt32BE(this.from)
  }

  /** Takes bytes from the front, as a copy. */
  take(count: number): Uint8Array {
    const taken = new Uint8Array(count)
    taken.set(this.buffer.subarray(this.from, this.from + count))
    this.drop(count)
    return taken
  }

  /** Drops bytes from the front. */
  drop(count: number): void {
    this.from += count
    if (this.from < this.to) return
    this.from = 0
    this.to = 0
    if (this.buffer.length > KEPT) this.buffer = Buffer.allocUnsafeSlow(0)
  }

  /** Makes room at the end: the taken front is used again before the buffer grows. */
  private reserve(count: number): void {
    const { buffer, size } = this
    if (this.to + count <= buffer.length) return
    // Half of the buffer has to be free, so that moving a byte is paid by one that was taken.
    const isRoomy = size + count <= buffer.length && 2 * size <= buffer.length
    const next = isRoomy ? buffer : Buffer.allocUnsafeSlow(Math.max(FIRST, 2 * (size + count)))
    buffer.copy(next, 0, this.from, this.to)
    this.buffer = next
    this.from = 0
    this.to = size
  }
}
