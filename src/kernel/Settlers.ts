/**
 * Settlers: who waits for the receipts of which events.
 *
 * @module
 */
import type { Receipt } from "./Space.ts"
import type { SpaceStopped } from "./SpaceError.ts"

interface Settler {
  readonly settled: (receipt: Receipt) => void
  readonly fail: ((error: SpaceStopped) => void) | undefined
}

/**
 * Callers by the event that they wait for.
 *
 * @category models
 * @since 0.1.0
 */
export class Settlers {
  private readonly byId = new Map<string, Set<Settler>>()

  get size(): number {
    return this.byId.size
  }

  has(id: string): boolean {
    return this.byId.has(id)
  }

  /** Answers how to wait no longer. */
  add(id: string, settled: Settler["settled"], fail?: Settler["fail"]): () => void {
    const settler: Settler = { settled, fail }
    const settlers = this.byId.get(id) ?? new Set()
    this.byId.set(id, settlers)
    settlers.add(settler)
    return () => {
      settlers.delete(settler)
      if (settlers.size === 0 && this.byId.get(id) === settlers) this.byId.delete(id)
    }
  }

  tell(id: string, receipt: Receipt): void {
    const settlers = this.byId.get(id)
    this.byId.delete(id)
    for (const { settled } of settlers ?? []) settled(receipt)
  }

  /** The space stopped: nobody will be told any more. */
  fail(error: SpaceStopped): void {
    const all = [...this.byId.values()]
    this.byId.clear()
    for (const settlers of all) for (const { fail } of settlers) fail?.(error)
  }
}
