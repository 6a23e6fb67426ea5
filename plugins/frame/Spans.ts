/**
 * A frame in spans of 262,144 bytes, the last one shorter: some are made ahead of their writes.
 *
 * @module
 */

/** The bytes of a span. */
export const SPAN = 262_144

/** The spans that are made ahead, and so the writes that may be in flight. */
export const AHEAD = 4

/** The spans that are there to be written, from the first on, and whether there are no more. */
export interface Known {
  readonly spans: number
  readonly isWhole: boolean
}

/**
 * The spans of one frame. A span is held from when it is made until its write is done.
 */
export class Spans {
  private readonly pieces: AsyncGenerator<Uint8Array>
  private readonly held = new Map<number, Uint8Array>()
  private made = 0
  private isWhole = false
  private isStopped = false
  /** The bytes of a piece that did not fit into the newest span. */
  private left: Uint8Array = new Uint8Array()
  private making: Promise<void> = Promise.resolve()
  private failed: { readonly error: unknown } | undefined

  constructor(pieces: AsyncGenerator<Uint8Array>) {
    this.pieces = pieces
  }

  /** The bytes of all spans so far. */
  bytes = 0

  /** The spans so far. */
  get known(): Known {
    return { spans: this.made, isWhole: this.isWhole }
  }

  /** Makes spans until there are so many, or all. One call makes spans at a time. */
  async until(count: number): Promise<void> {
    const making = this.making.then(async () => {
      while (!this.isWhole && !this.isStopped && this.made < count) await this.make()
    })
    // Each call hears of a failure by itself.
    this.making = making.catch(() => undefined)
    await making
  }

  /** The bytes of a span; `undefined` once its write is done, and for one that there is not. */
  get(seq: number): Uint8Array | undefined {
    return this.held.get(seq)
  }

  /** Whether spans wait for their writes. */
  get isHeld(): boolean {
    return this.held.size > 0
  }

  /** Forgets the bytes of a span. */
  wrote(seq: number): void {
    this.held.delete(seq)
  }

  /** Makes no further span. */
  stop(): void {
    this.isStopped = true
  }

  /** Ends the frame. */
  async close(): Promise<void> {
    this.stop()
    this.held.clear()
    await this.pieces.return(undefined)
  }

  private async make(): Promise<void> {
    const span = new Uint8Array(SPAN)
    let filled = 0
    while (filled < SPAN) {
      if (this.left.length === 0) {
        this.left = await this.next() ?? this.left
        if (this.isWhole) break
      }
      const here = this.left.subarray(0, SPAN - filled)
      span.set(here, filled)
      filled += here.length
      this.left = this.left.subarray(here.length)
    }
    // A frame may end with a full span, and only its next piece tells.
    if (this.left.length === 0) this.left = await this.next() ?? this.left
    if (filled === 0) return
    this.held.set(this.made++, span.subarray(0, filled))
    this.bytes += filled
  }

  /** The next piece; `undefined` after the last. A frame that failed fails again, because its generator is over. */
  private async next(): Promise<Uint8Array | undefined> {
    if (this.failed !== undefined) throw this.failed.error
    try {
      const { done, value } = await this.pieces.next()
      if (done !== true) return value
      this.isWhole = true
      return undefined
    } catch (error) {
      this.failed = { error }
      throw error
    }
  }
}
