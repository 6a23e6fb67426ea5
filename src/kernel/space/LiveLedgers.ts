/**
 * The live halves of the ledgers of an open space.
 *
 * @module
 */
import type { LiveLedger } from "../../ledger/Ledger.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { Output } from "../beat/LedgerBeats.ts"

/**
 * The parts of ledgers that talk to the world outside the beat.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveLedgers {
  private readonly live: ReadonlyMap<number, LiveLedger>

  /** Resumes each; `wake` signals possible work. */
  constructor({ ledgers, states }: Pick<LiveState, "ledgers" | "states">, wake: () => void) {
    const live = new Map<number, LiveLedger>()
    for (const { ledger, place } of ledgers.all) {
      const half = ledger.live?.(states[place], wake)
      if (half !== undefined) live.set(place, half)
    }
    this.live = live
    for (const half of live.values()) half.resume()
  }

  /** Hands out the outputs of a durable beat. */
  flushed(outputs: ReadonlyArray<Output>): void {
    for (const [place, output] of outputs) this.live.get(place)?.flushed(output)
  }

  stop(): void {
    for (const half of this.live.values()) half.stop()
  }
}
