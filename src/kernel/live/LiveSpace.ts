/**
 * An open space: its parts over its state, with its lifetime.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type * as LargeContent from "../../persistence/LargeContent.ts"
import type { Beat } from "../beat/step/Commit.ts"
import * as BeatAdvice from "./BeatAdvice.ts"
import * as DiagnosticsCommit from "../beat/step/DiagnosticsCommit.ts"
import { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { Turn } from "../model/Pacemaker.ts"
import { SpaceStopped } from "../model/SpaceError.ts"
import type { LiveSources } from "../view/BeatView.ts"
import { CountedRows } from "../view/CountedRows.ts"
import { DurableReads } from "../view/DurableReads.ts"
import { HistorySession } from "../view/HistorySession.ts"
import { LiveQueries } from "../view/LiveQueries.ts"
import type { PageTurns } from "../view/PageTurns.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type { Space } from "../view/Space.ts"
import { CommandQueue } from "./CommandQueue.ts"
import { Contents } from "./Contents.ts"
import type { ResolvePeer } from "./Delivery.ts"
import { EffectDelivery } from "./EffectDelivery.ts"
import { EventReceipts } from "./EventReceipts.ts"
import { Listeners } from "./Listeners.ts"
import * as LiveHost from "./LiveHost.ts"
import { LiveLedgers } from "./LiveLedgers.ts"
import { OutboxRelay } from "./OutboxRelay.ts"
import { SignalPosts } from "./SignalPosts.ts"
import { LiveLists } from "./LiveLists.ts"

/** The dependencies of an open space. */
interface Dependencies {
  readonly turn: Turn
  readonly pages: PageTurns
  readonly resolvePeer: ResolvePeer
  /** Called when it is idle, and when it stopped for good: with the error unless it was closed, and its progress. */
  readonly rested: () => void
  readonly stopped: (space: LiveSpace, end: { readonly error: SpaceStopped | undefined; readonly hasAdvanced: boolean }) => void
  /** Called on each use from outside. */
  readonly used: () => void
  readonly readerState: ReaderState
  readonly contents: LargeContent.ContentStore | undefined
}

/**
 * The parts of an open space, with its lifetime. `SpaceClient` is its API.
 */
export class LiveSpace {
  readonly name: string
  readonly state: LiveState
  readonly group: GroupCommit
  readonly readerState: ReaderState
  readonly commands: CommandQueue
  readonly contents: Contents
  readonly history: HistorySession
  readonly listeners: Listeners
  readonly lists: LiveLists
  readonly queries: LiveQueries
  readonly reads: DurableReads
  readonly receipts: EventReceipts
  readonly signals: SignalPosts
  private readonly deliveries: EffectDelivery
  private readonly ledgers: LiveLedgers
  private readonly outbox: OutboxRelay
  private readonly deps: Dependencies
  private closing = false
  /** Whether it was closed until the next request. */
  isRetired = false
  /** Requests in progress. */
  private uses = 0

  constructor(state: LiveState, deps: Dependencies) {
    this.name = state.space
    this.state = state
    this.deps = deps
    this.readerState = deps.readerState
    const group = this.group = new GroupCommit(state, deps.turn, {
      begins: () => this.ledgers.elapsed(),
      appended: (beat) => this.deliver(beat, true),
      published: (beat) => this.published(beat),
      rested: deps.rested,
      stopped: (error) => this.stopped(error)
    })
    this.deliveries = new EffectDelivery(state)
    const reads = this.reads = new DurableReads(group, { turns: deps.pages, rows: new CountedRows(state.store) })
    const receipts = this.receipts = new EventReceipts(state, { group, reads })
    this.lists = new LiveLists(state, reads)
    this.signals = new SignalPosts(state, { group, receipts, used: deps.used })
    this.commands = new CommandQueue(state, group)
    state.durable.strayed = (command) => void Effect.runFork(Effect.exit(this.commands.submit(() => command, false)))
    this.history = new HistorySession(state, { group, reads, turn: deps.turn })
    this.listeners = new Listeners(group)
    const live: LiveSources = { receipt: (id) => receipts.find(id), view: (id) => this.view(id) }
    this.queries = new LiveQueries({ state, group, reads, live, whenEnded: (tell) => this.listeners.whenEnded(tell) })
    this.contents = new Contents(state, { group, reads, store: deps.contents })
    this.ledgers = new LiveLedgers(state, LiveHost.make(state, group, this.contents.uploads))
    this.outbox = new OutboxRelay(state, { resolvePeer: deps.resolvePeer, group })
    // A damaged store may stop the space at once, which calls all its parts.
    this.outbox.begin()
    group.open()
  }

  /** A view of the live halves of ledgers; `undefined` for an unknown one. */
  view(id: string): ReturnType<LiveLedgers["view"]> {
    return this.ledgers.view(id)
  }

  close(reason: string, isRemoved = false): void {
    this.closing = true
    this.group.stop(new SpaceStopped({ space: this.name, reason, ...isRemoved ? { isRemoved } : {} }))
  }

  /** Closes it until the next request, or before its data is removed. */
  retire(isRemoved = false): void {
    this.isRetired = true
    this.close(isRemoved ? "it is being removed" : "it is closed, since nothing uses it", isRemoved)
  }

  /** The time of its next work by the clock of the host, as {@link GroupCommit.due} defines it. */
  get due(): number | undefined {
    return this.state.liveClock.wakeOf(this.group.due)
  }

  /** Whether it has no users and no work in progress, so that closing it is unnoticed. */
  get isResting(): boolean {
    const { contents: { uploads }, deliveries, group, history, listeners, outbox, receipts, state, uses } = this
    const isWaitedFor = uses + receipts.size + listeners.size + uploads.open > 0
    const isSupervised = state.sentry?.isQuiet(group.durable + 1) === false
    const isDelivering = !outbox.isEmpty || !deliveries.isQuiet || !this.ledgers.isQuiet
    const isBusy = !group.isResting || isSupervised || isDelivering || history.isBusy || state.derivation.inspector.isPaid
    return !isWaitedFor && !isBusy && (group.due ?? Infinity) > state.host.now()
  }

  /** Counts a request in progress until `leave`. */
  enter(): void {
    this.deps.used()
    this.uses++
  }

  leave(): void {
    this.uses--
  }

  readonly idle: Space["idle"] = Effect.callback((resume) => {
    const look = (): void => this.group.idle({
      open: () => {
        if (!this.outbox.isQuiet) this.outbox.whenQuiet(look)
        else if (!this.deliveries.isQuiet) this.deliveries.whenQuiet(look)
        else resume(Effect.void)
      },
      fail: (error) => resume(Effect.fail(error))
    })
    look()
  })

  /** Tells all parts of its end. */
  private stopped(error: SpaceStopped): void {
    this.deps.stopped(this, { error: this.closing ? undefined : error, hasAdvanced: this.group.hasAdvanced })
    if (!this.closing) this.state.reporter.report(UnexpectedFailure.of(error))
    this.outbox.stop()
    this.ledgers.stop()
    this.receipts.fail(error)
    this.listeners.ended(error)
  }

  /** Publishes a durable beat. */
  private published(beat: Beat): void {
    this.receipts.publish(beat)
    this.state.sentry?.passed(beat.number)
    this.queries.subscriptions.publish(beat)
    this.deliver(beat, false)
    this.listeners.published(beat.number)
    this.outbox.add(beat.outgoing)
    this.ledgers.flushed(beat.outputs)
    if (beat.facts.length > 0) DiagnosticsCommit.publish(this.state.reporter, this.name, beat)
    if (beat.watched !== undefined) {
      const facts = BeatAdvice.of(beat.watched, beat.changes, this.state)
      DiagnosticsCommit.publish(this.state.reporter, this.name, { facts, number: beat.number })
    }
    this.queries.views.publish(beat)
  }

  /** Delivers values to effects: to speculative ones before the flush, to all others after it. */
  private deliver({ deliveries }: Beat, speculative: boolean): void {
    for (const delivery of deliveries) if (delivery.definition.speculative === speculative) this.deliveries.tell(delivery)
  }
}
