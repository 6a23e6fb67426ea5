/**
 * Landings: events that are over, and callers that wait for that.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { LiveBody } from "../beat/Body.ts"
import type { Beat } from "../beat/Commit.ts"
import type { Group } from "../beat/Group.ts"
import * as Receipts from "../beat/Receipts.ts"
import type { Receipt } from "../beat/Receipts.ts"
import { ReceiptWaiters } from "./ReceiptWaiters.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

const nothing = (): void => {}

/**
 * The events of one space, as those outside hear that they are over.
 *
 * @category models
 * @since 0.1.0
 */
export class EventReceipts {
  private readonly body: LiveBody
  private readonly group: Pick<Group, "whenDurable">
  private readonly waiters = new ReceiptWaiters()

  constructor(body: LiveBody, group: Pick<Group, "whenDurable">) {
    this.body = body
    this.group = group
  }

  /** How many events have a caller that waits. */
  get size(): number {
    return this.waiters.size
  }

  /** Has the receipt of an event told when it is over; answers how not to be told. */
  add(id: string, settled: (receipt: Receipt) => void, fail: (error: SpaceStopped) => void): () => void {
    return this.waiters.add(id, settled, fail)
  }

  /** Tells of the events that a durable beat ended. */
  publish(beat: Beat): void {
    if (this.waiters.size === 0) return
    for (const flight of beat.landed) {
      const { id } = flight.signal
      if (this.waiters.has(id)) this.waiters.tell(id, Receipts.ofLanded(this.body.store, flight, beat.number))
    }
  }

  /** The space stopped. */
  fail(error: SpaceStopped): void {
    this.waiters.fail(error)
  }

  /** Waits for the receipt of an event that was accepted. */
  landing(id: string): Effect.Effect<Receipt, SpaceStopped> {
    return Effect.callback<Receipt, SpaceStopped>((resume) =>
      Effect.sync(this.land(id, { settled: (receipt) => resume(Effect.succeed(receipt)), fail: (error) => resume(Effect.fail(error)) }))
    )
  }

  /** Hands over the receipt of an event that is over, at once or at the gate, where all that landed was told; else waits with the others. */
  land(id: string, { fail, settled }: { readonly settled: (receipt: Receipt) => void; readonly fail: (error: SpaceStopped) => void }): () => void {
    let cancel = nothing
    const look = (): void => {
      const receipt = this.find(id)
      if (receipt !== undefined && receipt.status !== "pending") settled(receipt)
      else cancel = this.waiters.add(id, settled, fail)
    }
    this.group.whenDurable(look, fail)
    return () => cancel()
  }

  find(id: string): Receipt | undefined {
    const { inbox, store } = this.body
    const isOpen = inbox.waiting.has(id) || inbox.flights.has(id)
    return Receipts.find(store, id, isOpen) ?? (isOpen ? { id, status: "pending", beat: undefined, handlings: [] } : undefined)
  }

  captured(id: string): number | undefined {
    return this.body.inbox.flights.get(id)?.captured ?? Receipts.find(this.body.store, id, false)?.beat
  }
}
