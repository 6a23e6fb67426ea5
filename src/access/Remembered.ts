/**
 * Results that are remembered by a digest, so many at most.
 *
 * @module
 */

/** The most results. The oldest is made again. */
export const MAX_REMEMBERED = 10_000

/**
 * The newest results of a host.
 */
export class Remembered<A> {
  private readonly results = new Map<string, A>()

  /** The result of a digest; `undefined` for one that is not remembered. */
  get(digest: string): A | undefined {
    return this.results.get(digest)
  }

  /** Remembers a result in place of an earlier one. */
  set(digest: string, result: A): void {
    this.results.delete(digest)
    this.results.set(digest, result)
    if (this.results.size <= MAX_REMEMBERED) return
    for (const oldest of this.results.keys()) return void this.results.delete(oldest)
  }

  delete(digest: string): void {
    this.results.delete(digest)
  }

  clear(): void {
    this.results.clear()
  }

  /** The number of results. */
  get size(): number {
    return this.results.size
  }
}
