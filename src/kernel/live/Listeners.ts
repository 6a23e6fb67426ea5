/**
 * The listeners of an open space: to its durable beats, and to its end.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { Space } from "../view/Space.ts"
import * as Subscription from "../view/Subscription.ts"

/**
 * The listeners of one space.
 */
export class Listeners {
  private readonly barrier: Pick<OutputBarrier, "durable" | "error">
  private readonly listening = new Set<(beat: number) => void>()
  private readonly ends = new Set<(error: SpaceStopped) => void>()

  constructor(barrier: Pick<OutputBarrier, "durable" | "error">) {
    this.barrier = barrier
  }

  /** Number of listeners. */
  get size(): number {
    return this.listening.size + this.ends.size
  }

  readonly beats: Space["beats"] = Subscription.stream<number>(Subscription.newest, (feed) => {
    const known = this.barrier.durable
    // A listener added while a beat is published, by another listener, does not receive that beat twice.
    const tell = (beat: number): void => {
      if (beat > known) feed.tell(beat)
    }
    this.listening.add(tell)
    const hearNoEnd = this.whenEnded(() => feed.end(Cause.done()))
    return () => {
      hearNoEnd()
      this.listening.delete(tell)
    }
  })

  /** Reports the reason of a stop. Returns the call that cancels it. */
  whenEnded(tell: (error: SpaceStopped) => void): () => void {
    const { error } = this.barrier
    if (error === undefined) this.ends.add(tell)
    else tell(error)
    return () => void this.ends.delete(tell)
  }

  published(beat: number): void {
    for (const tell of this.listening) tell(beat)
  }

  ended(error: SpaceStopped): void {
    for (const end of this.ends) end(error)
  }
}
