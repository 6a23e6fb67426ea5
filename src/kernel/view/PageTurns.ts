/**
 * Page turns: the pages of all lists, one after another, each in a turn of its own.
 *
 * A page looks at a bounded number of rows, whether it shows them or not. Between two pages the host does its other work,
 * so that no client stops a space, however many pages it asks for. A page whose client is gone leaves the queue.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Query from "../../contract/Query.ts"
import type { Turn } from "../model/Pacemaker.ts"

/** The most rows that one page looks at, apart from the one that tells whether more follow. */
export const MAX_ROWS = Query.MOST

/**
 * The queue of pages of a kernel.
 */
export class PageTurns {
  private readonly turn: Turn
  private readonly waiting = new Set<() => void>()
  private isArmed = false

  constructor(turn: Turn) {
    this.turn = turn
  }

  /** Runs a look in a turn of its own. Returns the call that cancels it. */
  take(look: () => void): () => void {
    // Two pages may have the same look.
    const own = (): void => look()
    this.waiting.add(own)
    this.arm()
    return () => void this.waiting.delete(own)
  }

  /** Sees in a turn of its own. An interrupted caller gives it up. */
  see<A>(look: () => A): Effect.Effect<A> {
    return Effect.callback<A>((resume) => Effect.sync(this.take(() => resume(Effect.sync(look)))))
  }

  private arm(): void {
    if (this.isArmed || this.waiting.size === 0) return
    this.isArmed = true
    this.turn(() => {
      this.isArmed = false
      const [look] = this.waiting
      if (look !== undefined) this.waiting.delete(look)
      this.arm()
      look?.()
    })
  }
}
