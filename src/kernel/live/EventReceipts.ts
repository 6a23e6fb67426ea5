/**
 * Receipts of completed events, for their callers.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Beat } from "../beat/step/Commit.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import * as DeadLetter from "../beat/command/DeadLetter.ts"
import * as Receipts from "../beat/step/Receipts.ts"
import * as OwnId from "../model/OwnId.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { FlushedReads } from "../view/FlushedReads.ts"
import type { ReadError } from "../view/Expected.ts"
import { ReceiptWaiters } from "./ReceiptWaiters.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

/** The members of the state of a space that receipts use. */
type State = Pick<LiveState, "inbox" | "store">

const nothing = (): void => {}

/** The callbacks of a wait for a receipt. */
interface ReceiptCallbacks {
  readonly settled: (receipt: Receipt) => void
  readonly fail: (error: SpaceStopped) => void
}

/**
 * The receipts of one space, and the callers that wait for them.
 */
export class EventReceipts {
  private readonly state: State
  private readonly barrier: Pick<OutputBarrier, "whenDurable">
  private readonly reads: Pick<FlushedReads, "read">
  private readonly waiters = new ReceiptWaiters()

  constructor(state: State, { barrier, reads }: {
    readonly barrier: Pick<OutputBarrier, "whenDurable">
    readonly reads: Pick<FlushedReads, "read">
  }) {
    this.state = state
    this.barrier = barrier
    this.reads = reads
  }

  /** Number of events with a waiting caller. */
  get size(): number {
    return this.waiters.size
  }

  /** Waits for the receipt of an event. Returns the call that cancels it. */
  add(id: string, settled: (receipt: Receipt) => void, fail: (error: SpaceStopped) => void): () => void {
    return this.waiters.add(id, settled, fail)
  }

  /** Publishes the receipts of the events that a durable beat completed. */
  publish(beat: Beat): void {
    if (this.waiters.size === 0) return
    for (const flight of beat.completed) {
      const { id } = flight.signal
      if (this.waiters.has(id)) this.waiters.tell(id, Receipts.receiptOf(this.state.store, flight, beat.number))
    }
  }

  /** The space stopped. */
  fail(error: SpaceStopped): void {
    this.waiters.fail(error)
  }

  /** The receipt of the only event that a text names. */
  receipt(text: string): Effect.Effect<Receipt | undefined, ReadError> {
    return this.reads.read(() => this.find(text))
  }

  /** The receipts of the events that a text names. */
  receipts(text: string): Effect.Effect<ReadonlyArray<Receipt>, ReadError> {
    return this.reads.read(() => this.named(text))
  }

  /** The target of the event of a receipt; `unknown` if no entry tells it, as after the journal is pruned. */
  targetOf({ beat, id }: Pick<Receipt, "beat" | "id">): Receipts.Target {
    const { inbox, store } = this.state
    const open = inbox.events.get(id)?.signal ?? inbox.waiting.get(id)
    return open === undefined ? Receipts.targetIn(store, { beat, id }) : { is: "known", target: open.target }
  }

  /** Waits until all handlings of an event are over and durable. */
  settled(text: string): Effect.Effect<Receipt | undefined, ReadError> {
    return Effect.flatMap(this.receipt(text), (receipt) =>
      receipt?.status === "pending" ? this.receiptOf(receipt.id) : Effect.succeed(receipt))
  }

  /** A dead letter with its payload and message. */
  letter(text: string, enzyme: string): Effect.Effect<DeadLetter.OpenLetter | undefined, ReadError> {
    return this.reads.read(() => {
      const id = this.letterId(text, enzyme)
      const letter = DeadLetter.find(this.state.store, id, enzyme)
      const handling = letter && this.find(id)?.handlings.find((handling) => handling.enzyme === enzyme)
      const { message, place, source } = handling?.error ?? {}
      return letter && { ...letter, message, ...place === undefined ? {} : { place }, ...source === undefined ? {} : { source } }
    })
  }

  /** The id of the event of a dead letter. A minted id needs no read. */
  idOfLetter(text: string, enzyme: string): Effect.Effect<string, ReadError> {
    return OwnId.isMinted(text) ? Effect.succeed(text) : this.reads.read(() => this.letterId(text, enzyme))
  }

  /** Waits for the receipt of an admitted event. */
  private receiptOf(id: string): Effect.Effect<Receipt, SpaceStopped> {
    return Effect.callback<Receipt, SpaceStopped>((resume) =>
      Effect.sync(
        this.onReceipt(id, { settled: (receipt) => resume(Effect.succeed(receipt)), fail: (error) => resume(Effect.fail(error)) })
      )
    )
  }

  /** Returns the receipt of a completed event, at once or after the flush that publishes it. Otherwise waits like `add`. */
  onReceipt(id: string, { fail, settled }: ReceiptCallbacks): () => void {
    let cancel = nothing
    const look = (): void => {
      const receipt = this.at(id)
      if (receipt !== undefined && receipt.status !== "pending") settled(receipt)
      else cancel = this.waiters.add(id, settled, fail)
    }
    this.barrier.whenDurable(look, fail)
    return () => cancel()
  }

  /** The receipt of the only event that a text names. @throws IdAmbiguous */
  find(text: string): Receipt | undefined {
    return OwnId.only(text, this.named(text))
  }

  /** The receipts of the events that a text names. */
  private named(text: string): ReadonlyArray<Receipt> {
    return this.idsOf(text).flatMap((id) => this.at(id) ?? [])
  }

  /** The id of the only event that a text names and that has a dead letter of an enzyme; the text if there is none. @throws IdAmbiguous */
  private letterId(text: string, enzyme: string): string {
    const ids = this.idsOf(text).filter((id) => DeadLetter.has(this.state.store, id, enzyme))
    return ids.length > 1 ? OwnId.only(text, ids.flatMap((id) => this.at(id) ?? []))?.id ?? text : ids[0] ?? text
  }

  /** The ids of the events that a text names: itself, or those of the newest events with this own id. */
  private idsOf(text: string): ReadonlyArray<string> {
    if (OwnId.isMinted(text)) return [text]
    const { inbox, store } = this.state
    const ids = new Set([...inbox.waiting.ownedBy(text), ...store.named(text, OwnId.MAX_NAMED)])
    return ids.size === 0 ? [text] : [...ids].slice(0, OwnId.MAX_NAMED)
  }

  /** The receipt of an event, by its id. */
  private at(id: string): Receipt | undefined {
    const { inbox, store } = this.state
    const open = inbox.events.get(id)?.signal ?? inbox.waiting.get(id)
    const receipt = Receipts.find(store, id, open !== undefined)
    if (receipt !== undefined || open === undefined) return receipt
    return { id, ...OwnId.ownField(open.own), status: "pending", beat: undefined, handlings: [], ...Receipts.labelField(open.label) }
  }

  captured(id: string): number | undefined {
    return this.state.inbox.events.get(id)?.captured ?? Receipts.find(this.state.store, id, false)?.beat
  }
}
