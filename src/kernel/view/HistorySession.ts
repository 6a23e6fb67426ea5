/**
 * Examinations: looks back at a space, one at a time and in turns with its beats.
 *
 * To verify or replay a long journal takes longer than a space may stand still.
 * So whoever looks back rests after as much work as one group of beats may do,
 * and the host's other work has its turn; and where nobody waits for the answer
 * any more, the next rest ends it. (Architecture, sections 1.3 and 9.)
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Archive } from "../beat/Archive.ts"
import type { LiveBody } from "../beat/Body.ts"
import type { Turn } from "../model/Pacemaker.ts"
import { HistoryBusy } from "../model/SpaceError.ts"

/** Nobody waits for the answer any more. */
class CalledOff extends Error {}

/**
 * Looks back at one space.
 *
 * @category models
 * @since 0.1.0
 */
export class HistorySession {
  private readonly body: LiveBody
  private readonly turn: Turn
  private busy = false

  constructor(body: LiveBody, turn: Turn) {
    this.body = body
    this.turn = turn
  }

  /** Whether somebody looks back. */
  get isBusy(): boolean {
    return this.busy
  }

  /** Has somebody look; refused while somebody else does. What `look` throws is a failure as `expected` says. */
  run<A, E>(look: (archive: Archive) => A | Promise<A>, expected: (error: unknown) => E): Effect.Effect<A, E | HistoryBusy> {
    return Effect.suspend((): Effect.Effect<A, E | HistoryBusy> => {
      if (this.busy) return Effect.fail(new HistoryBusy({ space: this.body.space }))
      this.busy = true
      return Effect.flatten(Effect.promise(async (signal): Promise<Effect.Effect<A, E>> => {
        try {
          return Effect.succeed(await look(this.archive(signal)))
        } catch (error) {
          // Whoever called it off has gone.
          if (error instanceof CalledOff) return Effect.interrupt
          return Effect.fail(expected(error))
        } finally {
          this.busy = false
        }
      }))
    })
  }

  private archive(signal: AbortSignal): Archive {
    const { enzymes, hash, host, nodes, recall, settings, store } = this.body
    return { store, enzymes, nodes, settings, hash, host, recall, rest: this.rests(signal) }
  }

  /** Counts the work between two turns. */
  private rests(signal: AbortSignal): () => Promise<void> | undefined {
    const { host, settings: { limits: { groupBeats, groupMillis } } } = this.body
    let since = host.now()
    let count = 0
    return () => {
      if (signal.aborted) throw new CalledOff()
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
