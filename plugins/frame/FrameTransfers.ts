/**
 * The frames in progress of one channel.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers"
import { Channel } from "systole"
import type { Begun, Sink } from "./FrameSink.ts"
import { AHEAD, type Known, SPAN, Spans } from "./Spans.ts"

/** The time without a request after which a frame is dropped: 10 minutes. A pinned space removes no old beats meanwhile. */
const IDLE = 600_000

/** The most frames in progress. */
const MOST = 8

/** A frame in progress. */
interface Frame {
  readonly sink: Sink
  readonly spans: Spans
  idle: ReturnType<typeof setTimeout> | undefined
}

/** The bytes of a frame, the place that takes them, and the abort of its begin. */
export interface Source {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly create: () => Promise<Sink>
  readonly signal: AbortSignal
}

/** The refusal of a request that comes before another one. */
const early = (reason: string): Channel.ChannelError => Channel.fail("io/invalid", reason, { errno: -22 })

const keyOf = ({ of, space }: Begun): string => `${space} ${of}`

/**
 * The frames in progress, each by the request that began it. They are in memory: a restart ends them.
 */
export class FrameTransfers {
  private readonly open = new Map<string, Frame>()
  /** The newest begin of each frame. */
  private readonly beginning = new Map<string, Promise<Known>>()
  private isClosed = false

  /**
   * Begins a frame, again if an attempt before did. An attempt that was aborted may be under way still: it ends first, since both
   * write one file. One that is aborted leaves nothing.
   */
  async begin(begun: Begun, source: Source): Promise<Known> {
    const key = keyOf(begun)
    const before = this.beginning.get(key) ?? Promise.resolve()
    const own = before.then(() => undefined, () => undefined).then(() => this.beginAlone(begun, source))
    this.beginning.set(key, own)
    try {
      return await own
    } finally {
      if (this.beginning.get(key) === own) this.beginning.delete(key)
    }
  }

  private async beginAlone(begun: Begun, { create, pieces, signal }: Source): Promise<Known> {
    await this.drop(begun)
    signal.throwIfAborted()
    if (this.isClosed) throw early("the channel is closed")
    // This one is among those that begin.
    if (this.open.size + this.beginning.size > MOST) {
      throw Channel.fail("io/busy", `${MOST} frames are in progress`, { errno: -11, retryable: true })
    }
    const frame: Frame = { sink: await create(), spans: new Spans(pieces), idle: undefined }
    this.open.set(keyOf(begun), frame)
    this.rest(begun, frame)
    const stop = (): void => frame.spans.stop()
    signal.addEventListener("abort", stop)
    try {
      signal.throwIfAborted()
      await frame.spans.until(AHEAD)
      signal.throwIfAborted()
    } catch (error) {
      await this.drop(begun)
      throw error
    } finally {
      signal.removeEventListener("abort", stop)
    }
    return frame.spans.known
  }

  /** Writes a span, once. Returns its size beside the spans that are there by then. */
  async write(begun: Begun, seq: number): Promise<Known & { readonly bytes: number }> {
    const frame = this.find(begun)
    const { sink, spans } = frame
    const bytes = spans.get(seq)
    if (bytes === undefined && seq >= spans.known.spans) throw early(`the frame has no span ${seq} yet`)
    if (bytes !== undefined) await sink.write(bytes, seq * SPAN)
    spans.wrote(seq)
    await spans.until(seq + 1 + AHEAD)
    return { ...spans.known, bytes: bytes?.length ?? 0 }
  }

  /** Ends a frame whose spans are all written. Returns its bytes. */
  async finish(begun: Begun): Promise<number> {
    const { sink, spans } = this.find(begun)
    if (!spans.known.isWhole || spans.isHeld) throw early("the frame has spans that are not written")
    await sink.finish()
    this.forget(begun)
    return spans.bytes
  }

  /** Drops a frame. Returns whether there was one. */
  async drop(begun: Begun): Promise<boolean> {
    const frame = this.forget(begun)
    if (frame === undefined) return false
    await frame.spans.close()
    await frame.sink.drop()
    return true
  }

  /** Drops all frames, also those that begin. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.beginning.values())
    for (const key of this.open.keys()) {
      const [space = "", of = ""] = key.split(" ")
      await this.drop({ space, of })
    }
  }

  private find(begun: Begun): Frame {
    const frame = this.open.get(keyOf(begun))
    if (frame === undefined) {
      const reason = "the frame is over: the process started again, or nothing was asked for 10 minutes. Begin again"
      throw Channel.fail("frame/over", reason, { errno: -116 })
    }
    this.rest(begun, frame)
    return frame
  }

  private rest(begun: Begun, frame: Frame): void {
    clearTimeout(frame.idle)
    frame.idle = setTimeout(() => void this.drop(begun).catch(() => undefined), IDLE)
    frame.idle.unref()
  }

  private forget(begun: Begun): Frame | undefined {
    const frame = this.open.get(keyOf(begun))
    if (frame !== undefined) clearTimeout(frame.idle)
    this.open.delete(keyOf(begun))
    return frame
  }
}
