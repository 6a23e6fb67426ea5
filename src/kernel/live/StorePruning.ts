/**
 * The removal of old beats of a space from its journal, on request.
 *
 * Nothing of it is a beat: the journal has nothing of it, and a replay of what is left is the same before and after.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { ReadError } from "../view/Expected.ts"
import { StorePinned } from "../model/SpaceError.ts"
import type { FlushedReads } from "../view/FlushedReads.ts"

/** The dependencies of the removal. */
interface Dependencies {
  readonly barrier: Pick<OutputBarrier, "await" | "error">
  readonly reads: Pick<FlushedReads, "read">
}

/**
 * The removal of old beats of one space.
 */
export class StorePruning {
  private readonly state: Pick<LiveState, "space" | "store">
  private readonly deps: Dependencies

  constructor(state: Pick<LiveState, "space" | "store">, deps: Dependencies) {
    this.state = state
    this.deps = deps
  }

  /**
   * Removes the beats before one, in steps, and never the newest beat. Returns the newest beat that is gone; -1 if all are there.
   * Fails with `StorePinned` while an export is in progress.
   */
  before(beat: number): Effect.Effect<number, ReadError | StorePinned> {
    return Effect.gen({ self: this }, function*() {
      const { space, store } = this.state
      // Beats that come meanwhile stay.
      const end = Math.min(beat, yield* this.deps.reads.read(() => store.head().beat))
      for (let last = yield* this.anchor; ;) {
        // Beats may have no row, so the oldest row tells whether one is left.
        const left = yield* this.deps.reads.read(() => store.scanJournal(last + 1, end - 1))
        if (left[Symbol.iterator]().next().done === true) return last
        yield* this.step(end)
        const gone = yield* this.anchor
        if (gone === last) return yield* new StorePinned({ space })
        last = gone
      }
    })
  }

  private get anchor(): Effect.Effect<number, ReadError> {
    return this.deps.reads.read(() => this.state.store.anchor().beat)
  }

  private step(beat: number): Effect.Effect<void, ReadError> {
    return Effect.callback<void, ReadError>((resume) => {
      const { barrier } = this.deps
      if (barrier.error !== undefined) return resume(Effect.fail(barrier.error))
      this.state.store.prune(beat)
      barrier.await({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
    })
  }
}
