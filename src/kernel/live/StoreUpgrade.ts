/**
 * The upgrade of a store: its format rises by one command, and rows of an older form are rewritten in pages.
 *
 * Nothing of it is a beat, so the journal has nothing of it and a replay is the same before and after. Rows that the space writes
 * anyway have the new form from the rise on.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { isUnapplied, type PersistenceError } from "../../persistence/PersistenceError.ts"
import * as StoreFormat from "../../persistence/StoreFormat.ts"
import * as Semantics from "../../stage/Semantics.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import * as Journal from "../journal/Journal.ts"
import { PendingSignal } from "../model/Signal.ts"
import { asStopped, StoreUnfinished } from "../model/SpaceError.ts"
import { origin } from "../model/SpaceMode.ts"
import type { FlushedReads } from "../view/FlushedReads.ts"
import type { CarriedPage, StoreStatus, UpgradeError } from "../view/StoreView.ts"

/** The members of the state of a space that the upgrade uses. */
type State = Pick<LiveState, "mode" | "space" | "store">

/** The dependencies of the upgrade. */
interface Dependencies {
  readonly barrier: Pick<OutputBarrier, "await" | "error">
  readonly group: Pick<GroupCommit, "stop">
  readonly reads: Pick<FlushedReads, "read">
}

/**
 * The upgrade of the store of one space.
 */
export class StoreUpgrade {
  private readonly state: State
  private readonly deps: Dependencies

  constructor(state: State, deps: Dependencies) {
    this.state = state
    this.deps = deps
  }

  /** The format of the store, and the numbers that this version reads. */
  get status(): Effect.Effect<StoreStatus, UpgradeError> {
    return this.deps.reads.read(() => this.look())
  }

  /** Raises the format to the newest that this version reads. It changes the schema alone, and nothing the second time. */
  get finish(): Effect.Effect<StoreStatus, UpgradeError> {
    const { status } = this
    return Effect.flatMap(status, ({ format, newest }) =>
      format === null || format >= newest ? status : Effect.andThen(this.raise(StoreFormat.newest), status))
  }

  /**
   * Rewrites the rows of an older form among the next `limit` that wait after a number. Fails with `StoreUnfinished` before the
   * format rose.
   */
  carry({ after = -1, limit }: { readonly after?: number | undefined; readonly limit: number }): Effect.Effect<CarriedPage, UpgradeError> {
    return Effect.gen({ self: this }, function*() {
      const { format } = yield* this.status
      if (format === null) return { rows: 0, next: undefined }
      if (format < StoreFormat.NEWEST) return yield* new StoreUnfinished({ space: this.state.space, format })
      const { older, next } = this.page(after, limit)
      yield* this.write(older)
      if (next === undefined) yield* this.raise({ format, carried: format })
      return { rows: older.length, next }
    })
  }

  private look(): StoreStatus {
    const { format = null, carried = null } = this.state.store.format() ?? {}
    return {
      format,
      carried,
      oldest: StoreFormat.OLDEST,
      newest: StoreFormat.NEWEST,
      journal: Journal.VERSION,
      semantics: Semantics.NEWEST
    }
  }

  /** The rows of an older form among the next ones, in the new form, and the number of the last one unless no more follow. */
  private page(after: number, limit: number): { readonly older: ReadonlyArray<PendingSignal>; readonly next: number | undefined } {
    const { mode, space, store } = this.state
    const older: Array<PendingSignal> = []
    let seen = 0
    for (const row of store.queue(after)) {
      const pending = PendingSignal.fromRow(row)
      const carried = pending.sentUnder(origin(mode, space))
      if (carried !== pending) older.push(carried)
      if (++seen === limit) return { older, next: row.seq }
    }
    return { older, next: undefined }
  }

  /** Replaces rows. A delivery meanwhile removes the row by its number. */
  private write(queued: ReadonlyArray<PendingSignal>): Effect.Effect<void, UpgradeError> {
    if (queued.length === 0) return Effect.void
    return Effect.callback<void, UpgradeError>((resume) => {
      if (this.deps.barrier.error !== undefined) return resume(Effect.fail(this.deps.barrier.error))
      try {
        const nothing = { cells: [], receipts: [], dequeued: [], blobs: [], observations: [] }
        this.state.store.append({ ...nothing, entry: undefined, queued })
      } catch (error) {
        return resume(this.stopped(error))
      }
      this.deps.barrier.await({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
    })
  }

  /** Raises the format. A failure that may have applied it stops the space, as one of a flush does. */
  private raise(to: StoreFormat.Status): Effect.Effect<void, UpgradeError> {
    const failed = (error: PersistenceError) => isUnapplied(error) ? Effect.fail(error) : this.stopped(error)
    return Effect.catch(this.state.store.raise(to), failed)
  }

  private stopped(error: unknown): Effect.Effect<never, UpgradeError> {
    const stopped = asStopped(this.state.space, error)
    this.deps.group.stop(stopped)
    return Effect.fail(stopped)
  }
}
