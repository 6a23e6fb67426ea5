/**
 * History sessions: exclusive, cooperative access to the history of a space.
 *
 * Verifying or replaying a long journal takes longer than a space may pause. A session
 * therefore yields to the host after as much work as one barrier of beats may do. It ends
 * at the next yield once its caller is interrupted.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { HistorySource } from "../beat/HistorySource.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Turn } from "../model/Pacemaker.ts"
import type { FlushedReads } from "./FlushedReads.ts"
import type { ReadError } from "./Expected.ts"
import * as Queries from "./Queries.ts"
import { HistoryBusy, type SpaceStopped } from "../model/SpaceError.ts"

/** The members of the state of a space that histories use. */
type State = Pick<
  LiveState,
  "durable" | "enzymes" | "hash" | "host" | "ledgers" | "nodes" | "restore" | "settings" | "space" | "store"
>

/** The caller was interrupted. */
class CalledOff extends Error {}

/**
 * The history sessions of one space, one at a time.
 */
export class HistorySession {
  private readonly state: State
  private readonly turn: Turn
  private readonly barrier: Pick<OutputBarrier, "error">
  private readonly reads: Pick<FlushedReads, "read">
  private busy = false

  constructor(state: State, { barrier, reads, turn }: {
    readonly barrier: Pick<OutputBarrier, "error">
    readonly reads: Pick<FlushedReads, "read">
    readonly turn: Turn
  }) {
    this.state = state
    this.turn = turn
    this.barrier = barrier
    this.reads = reads
  }

  /** Whether a session is in progress. */
  get isBusy(): boolean {
    return this.busy
  }

  /** Runs a session over the durable history. */
  examine<A>(look: (history: HistorySource) => A | Promise<A>): Effect.Effect<A, ReadError | HistoryBusy> {
    return Effect.andThen(this.reads.read(() => {}), this.run(look, Queries.asReadError))
  }

  /**
   * Runs a session; fails with `HistoryBusy` during another one, and with the stop of the space if that comes first. `expected` maps
   * the errors of `look`.
   */
  private run<A, E>(
    look: (history: HistorySource) => A | Promise<A>,
    expected: (error: unknown) => E
  ): Effect.Effect<A, E | HistoryBusy | SpaceStopped> {
    return Effect.suspend((): Effect.Effect<A, E | HistoryBusy | SpaceStopped> => {
      if (this.busy) return Effect.fail(new HistoryBusy({ space: this.state.space }))
      this.busy = true
      return Effect.flatten(Effect.promise(async (signal): Promise<Effect.Effect<A, E | SpaceStopped>> => {
        try {
          return Effect.succeed(await look(this.history(signal)))
        } catch (error) {
          // The caller that interrupted it is gone.
          if (error instanceof CalledOff) return Effect.interrupt
          // A closed store fails, and that is not its fault.
          return Effect.fail(this.barrier.error ?? expected(error))
        } finally {
          this.busy = false
        }
      }))
    })
  }

  private history(signal: AbortSignal): HistorySource {
    const { durable, enzymes, hash, host, ledgers, nodes, restore, settings, store } = this.state
    return { store, enzymes, nodes, ledgers, durable, settings, hash, host, restore, rest: this.rests(signal) }
  }

  /** Counts the work between two yields. */
  private rests(signal: AbortSignal): () => Promise<void> | undefined {
    const { host, settings: { limits: { groupBeats, groupMillis } } } = this.state
    let since = host.now()
    let count = 0
    return () => {
      if (signal.aborted) throw new CalledOff()
      if (this.barrier.error !== undefined) throw this.barrier.error
      if (++count < groupBeats && host.now() - since < groupMillis) return undefined
      return new Promise((resolve) => {
        this.turn(() => {
          since = host.now()
          count = 0
          resolve()
        })
      })
    }
  }
}
