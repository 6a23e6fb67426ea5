/**
 * The publication of the beats of an open space: to its waiters and subscribers, and to the world outside.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import type { Beat } from "../beat/step/Commit.ts"
import * as DiagnosticsCommit from "../beat/step/DiagnosticsCommit.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { SpaceMode } from "../model/SpaceMode.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { LiveQueries } from "../view/LiveQueries.ts"
import type { Space } from "../view/Space.ts"
import * as BeatAdvice from "./BeatAdvice.ts"
import { EffectDelivery } from "./EffectDelivery.ts"
import type { EventReceipts } from "./EventReceipts.ts"
import type { Listeners } from "./Listeners.ts"
import type { LiveLedgers } from "./LiveLedgers.ts"
import type { OutboxRelay } from "./OutboxRelay.ts"

/** The members of the state of a space that the publication uses. */
type State = Pick<LiveState, "enzymes" | "host" | "mode" | "nodes" | "reporter" | "watchdog" | "space">

/** The parts of a space that hear of a beat. */
interface Parts {
  readonly group: Pick<GroupCommit, "idle">
  readonly ledgers: LiveLedgers
  readonly listeners: Listeners
  readonly outbox: OutboxRelay
  readonly queries: Pick<LiveQueries, "subscriptions" | "views">
  readonly receipts: EventReceipts
}

/** The publication of one open space. */
export class Publication {
  private readonly state: State
  private readonly parts: Parts
  private readonly deliveries: EffectDelivery
  /** The durable detachment, until the release. */
  private detached: SpaceMode["detached"]

  constructor(state: State, parts: Parts) {
    this.state = state
    this.parts = parts
    this.deliveries = new EffectDelivery(state)
    this.detached = state.mode.detached
  }

  /** A group of beats begins. */
  begins(): void {
    this.parts.ledgers.elapsed()
  }

  /** A beat is appended to the store, and not durable yet: speculative effects get their values. */
  appended(beat: Beat): void {
    this.deliver(beat, true)
  }

  /** A beat is durable. */
  published(beat: Beat): void {
    const { state, parts: { ledgers, listeners, outbox, queries, receipts } } = this
    receipts.publish(beat)
    state.watchdog?.endBeat(beat.number)
    queries.subscriptions.publish(beat)
    this.deliver(beat, false)
    listeners.published(beat.number)
    outbox.add(beat.outgoing)
    ledgers.flushed(beat.outputs)
    this.release(beat)
    if (beat.facts.length > 0) DiagnosticsCommit.publish(state.reporter, state.space, beat)
    if (beat.watched !== undefined) {
      const facts = BeatAdvice.of(beat.watched, beat.changes, state)
      DiagnosticsCommit.publish(state.reporter, state.space, { facts, number: beat.number })
    }
    queries.views.publish(beat)
  }

  /** After the release of a detached space, all that waited goes out. The mode of the space may be that of a later beat. */
  private release({ detached, number }: Beat): void {
    const before = this.detached
    this.detached = detached
    if (before === undefined || detached !== undefined) return
    this.parts.outbox.release()
    this.parts.ledgers.release({ since: before.beat, until: number })
  }

  /** The space stopped: fails its waiters, and ends the work outside its beats. */
  stopped(error: SpaceStopped): void {
    const { ledgers, listeners, outbox, receipts } = this.parts
    outbox.stop()
    ledgers.stop()
    receipts.fail(error)
    listeners.ended(error)
  }

  /** A view of the live halves of ledgers; `undefined` for an unknown one. */
  view(id: string): Value {
    return this.parts.ledgers.view(id)
  }

  /** Whether anybody waits for a beat. */
  get isAwaited(): boolean {
    return this.parts.receipts.size + this.parts.listeners.size > 0
  }

  /** Whether no work is in progress outside the beats. */
  get isQuiet(): boolean {
    return this.parts.outbox.isEmpty && this.deliveries.isQuiet && this.parts.ledgers.isQuiet
  }

  /** Waits until the space has no work, and nothing is being delivered. */
  readonly idle: Space["idle"] = Effect.callback((resume) => {
    const look = (): void => this.parts.group.idle({
      open: () => {
        const { outbox } = this.parts
        if (!outbox.isQuiet) outbox.whenQuiet(look)
        else if (!this.deliveries.isQuiet) this.deliveries.whenQuiet(look)
        else resume(Effect.void)
      },
      fail: (error) => resume(Effect.fail(error))
    })
    look()
  })

  /** Delivers values to effects: to speculative ones before the flush, to all others after it. */
  private deliver({ deliveries, detached }: Beat, speculative: boolean): void {
    if (detached !== undefined) return
    for (const delivery of deliveries) if (delivery.definition.speculative === speculative) this.deliveries.tell(delivery)
  }
}
