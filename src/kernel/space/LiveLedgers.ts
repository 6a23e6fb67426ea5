/**
 * The live halves of the ledgers of an open space.
 *
 * @module
 */
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { LiveHost, LiveLedger } from "../../ledger/Ledger.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { Output } from "../beat/LedgerBeats.ts"

/**
 * The parts of ledgers that talk to the world outside the beat. A failure of one is reported and does not stop the space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveLedgers {
  private readonly live = new Map<number, LiveLedger>()
  private readonly state: Pick<LiveState, "reporter">

  /** Makes and resumes each. */
  constructor(state: Pick<LiveState, "ledgers" | "reporter" | "states">, host: LiveHost) {
    this.state = state
    for (const { ledger, place } of state.ledgers.all) {
      const half = ledger.live?.(state.states[place], host)
      if (half !== undefined) this.live.set(place, half)
    }
    for (const half of this.live.values()) this.guarded(() => half.resume())
  }

  /** Whether no work is in progress. */
  get isQuiet(): boolean {
    for (const half of this.live.values()) if (!half.isQuiet) return false
    return true
  }

  /** Hands out the outputs of a durable beat. */
  flushed(outputs: ReadonlyArray<Output>): void {
    for (const [place, output] of outputs) this.guarded(() => this.live.get(place)?.flushed(output))
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
