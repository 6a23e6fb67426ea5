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

/** The refusal of a request that comes before another one. */
const early = (reason: string): Channel.ChannelError => Channel.fail("io/invalid", reason, { errno: -22 })

const keyOf = ({ of, space }: Begun): string => `${space} ${of}`

/**
 * The frames in progress, each by the request that began it. They are in memory: a restart ends them.
 */
export class FrameTransfers {
  private readonly open = new Map<string, Frame>()

  /** Begins a frame, again if an attempt before did. */
  async begin(begun: Begun, pieces: AsyncGenerator<Uint8Array>, create: () => Promise<Sink>): Promise<Known> {
    await this.drop(begun)
    if (this.open.size >= MOST) throw Channel.fail("io/busy", `${MOST} frames are in progress`, { errno: -11, retryable: true })
    const spans = new Spans(pieces)
    const frame: Frame = { sink: await create(), spans, idle: undefined }
    this.open.set(keyOf(begun), frame)
    this.rest(begun, frame)
    try {
      await spans.until(AHEAD)
    } catch (error) {
      await this.drop(begun)
      throw error
    }
    return spans.known
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

  /** Drops all frames. */
  async close(): Promise<void> {
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
