/**
 * An open space: its API over its state.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import type { HistorySource } from "../beat/HistorySource.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { Beat } from "../beat/Commit.ts"
import { CommandQueue } from "./CommandQueue.ts"
import { EffectDelivery } from "./EffectDelivery.ts"
import { DurableReads } from "../view/DurableReads.ts"
import { HistorySession } from "../view/HistorySession.ts"
import { Admission, type Entered } from "./Admission.ts"
import { asRefusal, type ControlError, type ReadError, type SignalError } from "../view/Expected.ts"
import { CountedRows } from "../view/CountedRows.ts"
import * as Subscription from "../view/Subscription.ts"
import type { ExternalChange } from "../model/ExternalChange.ts"
import { GroupCommit } from "../beat/GroupCommit.ts"
import type { Peer, ResolvePeer } from "./Delivery.ts"
import { OutboxRelay } from "./OutboxRelay.ts"
import { LiveQueries } from "../view/LiveQueries.ts"
import { EventReceipts } from "./EventReceipts.ts"
import { ClearedView, type Dependencies as ClearedViews } from "../view/ClearedView.ts"
import type { Turn } from "../model/Pacemaker.ts"
import type { PageTurns } from "../view/PageTurns.ts"
import type { ReaderState } from "../view/ReaderState.ts"
import type { LiveSources } from "../view/BeatView.ts"
import * as OwnId from "../model/OwnId.ts"
import * as Queries from "../view/Queries.ts"
import type { Receipt } from "../model/Receipt.ts"
import * as DiagnosticsCommit from "../beat/DiagnosticsCommit.ts"
import type { Accepted, Clearance, PartName, PostedSignal, PostHears, Reader, Space, Waits } from "../view/Space.ts"
import type { Pending } from "../model/Signal.ts"
import * as WaitingList from "../view/WaitingList.ts"
import { LargeUploads } from "./LargeUploads.ts"
import type { FaceHost, SpacePart } from "./SpacePart.ts"
import * as LiveHost from "./LiveHost.ts"
import { LiveLedgers } from "./LiveLedgers.ts"
import { LiveLists } from "./SpaceLists.ts"
import { type CellHeld, type HistoryBusy, SpaceStopped } from "../model/SpaceError.ts"
import { origin } from "../model/SpaceMode.ts"
import { Uploads } from "./Uploads.ts"

const nothing = (): void => {}

/** The dependencies of an open space. */
interface Dependencies {
  readonly parts: ReadonlyArray<SpacePart>
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
 * The space over its state, with its lifetime.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveSpace implements Omit<Space, PartName>, Peer {
  readonly name: string
  /** The parts of its API, by name. */
  readonly parts: Readonly<Record<string, object>>
  readonly control: CommandQueue
  private readonly state: LiveState
  private readonly group: GroupCommit
  private readonly admission: Admission
  private readonly outbox: OutboxRelay
  private readonly history: HistorySession
  private readonly outcomes: EventReceipts
  private readonly durable: DurableReads
  private readonly queries: LiveQueries
  readonly beatsBefore: Space["beatsBefore"]
  readonly below: Space["below"]
  readonly cells: Space["cells"]
  readonly dead: Space["dead"]
  readonly letter: Space["letter"]
  readonly list: Space["list"]
  readonly names: Space["names"]
  readonly waiting: Space["waiting"]
  readonly watch: Space["watch"]
  readonly content: Space["content"]
  readonly receive: Space["receive"]
  private readonly uploads: Uploads
  private readonly large: LargeUploads
  private readonly ledgers: LiveLedgers
  private readonly sources: LiveSources = { receipt: (id) => this.outcomes.find(id), view: (id) => this.ledgers.view(id) }
  private readonly deps: Dependencies
  private readonly listeners = new Set<(beat: number) => void>()
  private readonly ends = new Set<(error: SpaceStopped) => void>()
  private readonly deliveries: EffectDelivery
  private closing = false
  /** Whether it was closed until the next request. */
  isRetired = false
  /** Requests in progress through handles. */
  private uses = 0

  constructor(state: LiveState, deps: Dependencies) {
    this.name = state.space
    this.state = state
    this.group = new GroupCommit(state, deps.turn, {
      begins: () => this.ledgers.elapsed(),
      appended: (beat) => this.tell(beat, true),
      published: (beat) => this.published(beat),
      rested: deps.rested,
      stopped: (error) => {
        deps.stopped(this, { error: this.closing ? undefined : error, hasAdvanced: this.group.hasAdvanced })
        if (!this.closing) state.reporter.report(UnexpectedFailure.of(error))
        this.outbox.stop()
        this.ledgers.stop()
        this.outcomes.fail(error)
        for (const end of this.ends) end(error)
      }
    })
    this.deliveries = new EffectDelivery(state)
    const rows = new CountedRows(state.store)
    this.durable = new DurableReads(this.group, { turns: deps.pages, rows })
    this.outcomes = new EventReceipts(state, this.group)
    const lists = new LiveLists(state, { rows, reads: this.durable, receipts: this.outcomes })
    ;[this.beatsBefore, this.below, this.cells, this.dead] = [lists.beatsBefore, lists.below, lists.cells, lists.dead]
    ;[this.letter, this.list, this.names, this.waiting] = [lists.letter, lists.list, lists.names, lists.waiting]
    this.admission = new Admission(state)
    this.control = new CommandQueue(state, this.group)
    this.history = new HistorySession(state, deps.turn, this.group)
    const ledgers: FaceHost = {
      hash: state.hash,
      store: rows,
      submit: (make) => this.control.submit(make),
      durably: (see) => this.durable.read(see),
      page: (see) => this.durable.page(see),
      view: this.sources.view
    }
    const host = { ledgers, state, group: this.group }
    this.parts = Object.fromEntries(deps.parts.map(({ make, name }) => [name, make(host)]))
    this.queries = new LiveQueries({
      state,
      group: this.group,
      look: (see, callbacks) => this.durable.look(see, callbacks),
      whenEnded: (tell) => this.whenEnded(tell),
      live: this.sources
    })
    this.watch = this.queries.watch
    this.uploads = new Uploads(state, this.group)
    this.content = this.uploads.begin
    this.large = new LargeUploads(state, this.uploads, deps.contents)
    this.receive = (chunks) => Effect.mapError(this.large.receive(chunks), (error) => this.error ?? error)
    this.deps = deps
    this.ledgers = new LiveLedgers(state, LiveHost.make(state, this.group, this.uploads))
    this.outbox = new OutboxRelay(state, { resolvePeer: deps.resolvePeer, group: this.group })
    // A damaged store may stop the space at once, which calls all its parts.
    this.outbox.begin()
    this.group.open()
  }

  /** The reason of its stop, if it stopped. */
  get error(): SpaceStopped | undefined {
    return this.group.error
  }

  /** Its name, with its incarnation. */
  get origin(): string { return origin(this.state.mode, this.name) }

  /** Signals possible work. */
  wake(): void { this.group.wake() }

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
    const { state, deliveries, ends, history, group, outcomes, listeners, outbox, uploads, uses } = this
    const isWaitedFor = uses + outcomes.size + listeners.size + ends.size + uploads.open > 0
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

  signal(posted: PostedSignal): Effect.Effect<Accepted, SignalError> {
    return Effect.callback<Accepted, SignalError>((resume) => {
      this.post(posted, { accepted: (accepted) => resume(Effect.succeed(accepted)), fail: (error) => resume(Effect.fail(error)) })
    })
  }

  handled(posted: PostedSignal): Effect.Effect<Receipt, SignalError> {
    return Effect.callback<Receipt, SignalError>((resume) => {
      const fail = (error: SignalError): void => resume(Effect.fail(error))
      const cancel = this.post(posted, { settled: (receipt) => resume(Effect.succeed(receipt)), fail })
      return Effect.sync(cancel)
    })
  }

  post(posted: PostedSignal, hears: PostHears): () => void {
    this.deps.used()
    return this.take(() => this.admission.enter(posted), hears)
  }

  arrive(from: string, { signal }: Pending, hears: PostHears): void {
    this.take(() => this.admission.arrive(from, signal), hears)
  }

  private take(enter: () => Entered, { accepted, fail, settled }: PostHears): () => void {
    let entered: Entered
    try {
      if (this.group.error !== undefined) throw this.group.error
      entered = enter()
    } catch (error) {
      fail(asRefusal(error))
      return nothing
    }
    if (entered.kind === "known") {
      const { id } = entered
      let cancel = nothing
      this.group.whenDurable(() => {
        accepted?.({ id, beat: this.outcomes.captured(id), duplicate: true })
        if (settled !== undefined) cancel = this.outcomes.onReceipt(id, { settled, fail })
      }, fail)
      return () => cancel()
    }
    const { pending } = entered
    const { id } = pending.signal
    // A waiter registered before the beat gets the receipt from memory, and is told of a stop.
    const cancel = settled === undefined ? nothing : this.outcomes.add(id, settled, fail)
    const open = (): void => accepted?.({ id, beat: pending.beat, duplicate: false })
    this.group.accept(pending, { open, fail: settled === undefined ? fail : nothing })
    return cancel
  }

  receipt(id: string): Effect.Effect<Receipt | undefined, ReadError> {
    return this.durable.read(() => this.outcomes.find(id))
  }

  receipts(text: string): Effect.Effect<ReadonlyArray<Receipt>, ReadError> {
    return this.durable.read(() => this.outcomes.named(text))
  }

  settled(id: string): Effect.Effect<Receipt | undefined, ReadError> {
    return Effect.flatMap(this.receipt(id), (receipt) =>
      receipt?.status === "pending" ? this.outcomes.receiptOf(receipt.id) : Effect.succeed(receipt))
  }

  set(address: string, value: unknown, options: { readonly group?: string } = {}): Effect.Effect<number, ControlError> {
    return this.control.set(address, value, options)
  }

  integrate(change: ExternalChange): Effect.Effect<number, ControlError> {
    return this.control.integrate(change)
  }

  bind(cell: string, enzyme: string, options: { readonly propagate?: boolean } = {}): Effect.Effect<number, ControlError> {
    return this.control.bind({ cell, enzyme, propagate: options.propagate ?? true, tombstone: false })
  }

  unbind(cell: string, enzyme: string): Effect.Effect<number, ControlError> {
    return this.control.bind({ cell, enzyme, propagate: true, tombstone: true })
  }

  redeliver(text: string, enzyme: string): Effect.Effect<number, ControlError | ReadError> {
    if (OwnId.isMinted(text)) return this.control.redeliver(text, enzyme)
    return Effect.flatMap(this.durable.read(() => this.outcomes.letterId(text, enzyme)), (id) => this.control.redeliver(id, enzyme))
  }

  start(module: string, inputs: { readonly [name: string]: unknown } = {}): Effect.Effect<string, ControlError> {
    return this.control.start(module, inputs)
  }

  stop(piece: string): Effect.Effect<number, ControlError> {
    return this.control.stopPiece(piece)
  }

  readonly step: Space["step"] = Effect.callback((resume) => {
    this.group.step((beat) => resume(Effect.succeed(beat)), (error) => resume(Effect.fail(error)))
  })

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

  get(address: string): Effect.Effect<Value, ReadError> {
    return this.durable.at(address, () => Queries.read(this.state, address, this.sources))
  }

  pull(text: string, { wait = this.state.settings.limits.pullMillis }: Waits = {}): Effect.Effect<Value, ReadError | CellHeld> {
    return this.queries.pull(text, { see: () => Queries.read(this.state, text, this.sources), wait })
  }

  reader(clearance: Clearance): Reader {
    const { deps: { readerState }, state, queries } = this
    const queued: ClearedViews["queued"] = (page, admits) => this.durable.page(() => WaitingList.find(state, page, admits))
    return new ClearedView({ state, space: this, ...readerState, queries, queued }, clearance)
  }

  readonly denials: Space["denials"] = Effect.sync(() => [...this.deps.readerState.denials])

  readonly head: Space["head"] = Effect.sync(() => this.group.durable)

  journal(beat: number): ReturnType<Space["journal"]> {
    return this.durable.read(() => this.state.store.entry(beat))
  }

  /** Reports the reason of a stop. Returns the call that cancels it. */
  private whenEnded(tell: (error: SpaceStopped) => void): () => void {
    const { error } = this.group
    if (error === undefined) this.ends.add(tell)
    else tell(error)
    return () => void this.ends.delete(tell)
  }

  readonly beats: Space["beats"] = Subscription.stream<number>(Subscription.newest, (feed) => {
    const known = this.group.durable
    // A listener added while a beat is published, by another listener, does not receive that beat twice.
    const tell = (beat: number): void => {
      if (beat > known) feed.tell(beat)
    }
    this.listeners.add(tell)
    const hearNoEnd = this.whenEnded(() => feed.end(Cause.done()))
    return () => {
      hearNoEnd()
      this.listeners.delete(tell)
    }
  })

  blob(hash: string): Effect.Effect<Uint8Array | undefined, ReadError> {
    return this.durable.read(() => LargeContent.read(hash, this.state.store.blob(hash)))
  }

  blobPart(hash: string, part: number): ReturnType<Space["blobPart"]> {
    const stored = this.durable.read(() => LargeContent.find(this.state.store, hash, part))
    const whole = Effect.flatMap(stored, ({ found, large }) => large ? this.large.part(hash, large, part) : Effect.succeed(found))
    return Effect.mapError(whole, (error) => this.error ?? error)
  }

  examine<A>(look: (history: HistorySource) => A | Promise<A>): Effect.Effect<A, ReadError | HistoryBusy> {
    return Effect.andThen(this.durable.read(nothing), this.history.run(look, Queries.asReadError))
  }

  /** Publishes a durable beat. */
  private published(beat: Beat): void {
    this.outcomes.publish(beat)
    this.state.sentry?.passed(beat.number)
    this.queries.subscriptions.publish(beat)
    this.tell(beat, false)
    for (const tell of this.listeners) tell(beat.number)
    this.outbox.add(beat.outgoing)
    this.ledgers.flushed(beat.outputs)
    if (beat.facts.length > 0) DiagnosticsCommit.publish(this.state.reporter, this.name, beat)
    this.queries.views.publish(beat)
  }

  /** Delivers values to effects: to speculative ones before the flush, to all others after it. */
  private tell({ deliveries }: Beat, speculative: boolean): void {
    for (const delivery of deliveries) if (delivery.definition.speculative === speculative) this.deliveries.tell(delivery)
  }
}
