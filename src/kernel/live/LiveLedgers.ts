/**
 * The live halves of the ledgers of an open space.
 *
 * @module
 */
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Value } from "../../cell/Value.ts"
import type { LiveHost, LiveLedger, Release } from "../../ledger/Ledger.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { Output } from "../beat/LedgerBeats.ts"

/**
 * The parts of ledgers that talk to the world outside the beat. A failure of one is reported and does not stop the space.
 */
export class LiveLedgers {
  private readonly live = new Map<number, LiveLedger>()
  private readonly state: Pick<LiveState, "mode" | "reporter" | "store">
  /** Whether the space is detached as of its newest durable beat. */
  private isDetached: boolean

  /** Makes and resumes each. */
  constructor(state: Pick<LiveState, "ledgers" | "mode" | "reporter" | "states" | "store">, host: LiveHost) {
    this.state = state
    this.isDetached = state.mode.detached !== undefined
    for (const { ledger, place } of state.ledgers.all) {
      const half = ledger.live?.(state.states[place], host)
      if (half !== undefined) this.live.set(place, half)
    }
    this.resume((half) => !this.waits(half))
  }

  /** The release of the space is durable: the work in the world resumes. */
  release(release: Release): void {
    this.isDetached = false
    this.resume((half) => half.isOutside === true, release)
  }

  private resume(isNow: (half: LiveLedger) => boolean, release?: Release): void {
    for (const half of this.live.values()) if (isNow(half)) this.guarded(() => half.resume(release))
  }

  /** Whether a half does nothing while the space is detached. */
  private waits({ isOutside = false }: LiveLedger): boolean {
    return isOutside && this.isDetached
  }

  /** Whether no work is in progress. */
  get isQuiet(): boolean {
    for (const half of this.live.values()) if (!half.isQuiet) return false
    return true
  }

  /** Hands out the outputs of a durable beat. */
  flushed(outputs: ReadonlyArray<Output>): void {
    for (const [place, output] of outputs) {
      const half = this.live.get(place)
      if (half !== undefined && !this.waits(half)) this.guarded(() => half.flushed(output))
    }
  }

  /** Begins the work that was delayed until now. */
  elapsed(): void {
    for (const half of this.live.values()) if (!this.waits(half)) this.guarded(() => half.elapsed?.())
  }

  /** The value of a view by its id; `undefined` if no live half has it. */
  view(id: string): Value {
    const { mode, store } = this.state
    const moment = { beat: store.head().beat, state: SpaceMode.stateOf(mode), control: mode.control?.oid }
    for (const half of this.live.values()) {
      const value = half.view?.(id, moment)
      if (value !== undefined) return value
    }
    return undefined
  }

  stop(): void {
    for (const half of this.live.values()) this.guarded(() => half.stop())
  }

  private guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.state.reporter.report(UnexpectedFailure.of(error))
    }
  }
}
