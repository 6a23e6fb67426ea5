/**
 * The outbox relay: transactional delivery of signals to other spaces.
 *
 * A signal for another space is a row of its beat's batch, and is sent once that is
 * durable. The row is removed when the receiver has made the signal durable as an event
 * of its own. The event's id is a digest of the sender and the signal's id, so the
 * receiver detects a second delivery after a crash, as long as it has the receipt of the
 * first. So a row is given up before that receipt can expire. Signals for one space arrive
 * in the order of sending. If the receiver cannot take them, they are sent again after a
 * delay. Most queued signals are in the store.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { hand, refusalOf, type ResolvePeer } from "./Delivery.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import { retention } from "../../persistence/Persistence.ts"
import { PendingSignal } from "../model/Signal.ts"
import { origin } from "../model/SpaceMode.ts"
import { asStopped, OutboxDropped, OutboxExpired } from "../model/SpaceError.ts"

/** The members of the state of a space that the outbox uses. */
type State = Pick<
  LiveState,
  "departures" | "host" | "inbox" | "liveClock" | "mode" | "number" | "reporter" | "settings" | "space" | "store"
>

/** The dependencies of the relay. */
interface Dependencies {
  readonly resolvePeer: ResolvePeer
  readonly barrier: Pick<OutputBarrier, "await">
  readonly group: Pick<GroupCommit, "stop">
}

/** Codes of permanent failures. */
const hopeless: ReadonlySet<unknown> = new Set([
  "space/unknown", "space/name", "signal/id-reused", "signal/invalid", "outbox/expired", "outbox/dropped"
])

/** The part of the retention of receipts after which a row is given up. The rest is for clocks that differ and for slow deliveries. */
const SHARE = 0.7

/** The least time for the delivery of a row, in milliseconds, if the retention of receipts is shorter. */
const LEAST = 60_000

/** The delivery to one space. */
interface Route {
  readonly space: string
  state: "sending" | "waiting"
  /** Successive failed attempts. */
  failures: number
  /** Whether it was reported that signals are too old. */
  isGivenUp: boolean
  disarm: () => void
}

const nothing = (): void => {}

/**
 * The outbox relay of one space.
 */
export class OutboxRelay {
  private readonly state: State
  private readonly deps: Dependencies
  private readonly routes = new Map<string, Route>()
  private readonly quiet: Array<() => void> = []
  /** The age at which a row is given up, in milliseconds. */
  private readonly horizon: number
  private stopped = false
  /** Whether the space is detached as of its newest durable beat. */
  private isDetached: boolean

  constructor(state: State, deps: Dependencies) {
    this.state = state
    this.deps = deps
    this.isDetached = state.mode.detached !== undefined
    const { receiptMillis = retention.receiptMillis } = state.settings.retention
    this.horizon = Math.max(LEAST, SHARE * receiptMillis)
  }

  /** Adds durable signals for delivery. */
  add(outgoing: ReadonlyArray<PendingSignal>): void {
    for (const pending of outgoing) this.state.departures.add(pending)
    if (outgoing.length > 0) this.begin()
  }

  /** Calls back when no delivery is in progress: at once, or later. Signals that wait for another attempt do not count. */
  whenQuiet(run: () => void): void {
    if (this.isQuiet) run()
    else this.quiet.push(run)
  }

  /** Whether no delivery is in progress. */
  get isQuiet(): boolean {
    return this.stopped || [...this.routes.values()].every(({ state }) => state !== "sending")
  }

  /** Whether no signal waits for delivery. */
  get isEmpty(): boolean {
    return this.routes.size === 0 && (this.state.departures.isEmpty || this.isDetached)
  }

  /** Stops all deliveries. Undelivered signals remain in the store. */
  stop(): void {
    this.stopped = true
    for (const { disarm } of this.routes.values()) disarm()
    this.tellQuiet()
  }

  /** Begins delivery to each space with queued signals, unless one is in progress. A detached space sends none. */
  begin(): void {
    if (this.stopped || this.isDetached) return
    for (const space of this.state.departures.spaces) {
      if (this.routes.has(space)) continue
      const route: Route = { space, state: "sending", failures: 0, isGivenUp: false, disarm: nothing }
      this.routes.set(space, route)
      this.send(route)
    }
  }

  /** The release of the space is durable: what waited goes out. */
  release(): void {
    this.isDetached = false
    this.begin()
  }

  private send(route: Route): void {
    route.state = "sending"
    this.safely(() => {
      // A copy has these from the original, which sends them.
      const foreign = this.upTo(route.space, this.state.mode.copied)
      if (foreign.length > 0) return void Promise.resolve().then(() => this.conclude(route, foreign, foreign.map(() => undefined)))
      const dropped = this.upTo(route.space, this.state.mode.dropped?.outbox)
      const error = new OutboxDropped({ space: route.space })
      if (dropped.length > 0) return void Promise.resolve().then(() => this.conclude(route, dropped, dropped.map(() => error)))
      const expired = this.expired(route.space)
      if (expired.length === 0) this.resolve(route)
      else this.giveUp(route, expired)
    })
  }

  /** The first signals for a space with numbers up to one. */
  private upTo(space: string, last = -1): ReadonlyArray<PendingSignal> {
    const batch = this.state.departures.next(space)
    const later = batch.findIndex(({ seq }) => seq > last)
    return later < 0 ? batch : batch.slice(0, later)
  }

  /** The first signals for a space that are too old for another delivery. */
  private expired(space: string): ReadonlyArray<PendingSignal> {
    const { departures, host, store } = this.state
    // A jump of the clock counts, since the receiver may have beaten meanwhile.
    const oldest = Math.max(host.now(), store.head().clock) - this.horizon
    const batch = departures.next(space)
    const fresh = batch.findIndex((pending) => this.sentAt(pending) >= oldest)
    return fresh < 0 ? batch : batch.slice(0, fresh)
  }

  /** The clock of the beat that sent a signal; of a pruned beat, a moment before all others. */
  private sentAt({ signal: { id, to } }: PendingSignal): number {
    return to?.sent ?? this.state.store.entry(Number(id.split(".")[0]))?.clock ?? -Infinity
  }

  /** The receiver may have taken these signals, and have no receipt of that any more. */
  private giveUp(route: Route, expired: ReadonlyArray<PendingSignal>): void {
    const { reporter, space } = this.state
    const error = new OutboxExpired({ space: route.space, millis: this.horizon })
    if (!route.isGivenUp) {
      const what = `signals for space "${route.space}" are dead letters, first ${expired[0]?.signal.id}`
      reporter.report(UnexpectedFailure.after("outbox/expired", error, { space, origin: { kind: "runtime", name: "outbox" }, what }))
    }
    route.isGivenUp = true
    // Later, since a long queue consists of many batches.
    void Promise.resolve().then(() => this.conclude(route, expired, expired.map(() => error)))
  }

  private resolve(route: Route): void {
    this.state.host.fork(this.deps.resolvePeer(route.space)).addObserver((exit) => {
      if (this.stopped) return
      this.safely(() => {
        const { from, pendings: batch } = this.next(route.space)
        const sent = batch.map((pending) => this.dated(pending))
        if (Exit.isSuccess(exit)) void hand(from, sent, exit.value).then((answers) => this.conclude(route, batch, answers))
        else this.conclude(route, batch, Array.from(batch, () => Cause.squash(exit.cause)))
      })
    })
  }

  /** The next signals for a space, up to the first one with another origin. */
  private next(space: string): { readonly from: string; readonly pendings: ReadonlyArray<PendingSignal> } {
    const present = origin(this.state.mode, this.state.space)
    const originOf = ({ signal: { to } }: PendingSignal): string => to?.from ?? present
    const pendings = this.state.departures.next(space)
    const from = pendings[0] === undefined ? present : originOf(pendings[0])
    const end = pendings.findIndex((pending) => originOf(pending) !== from)
    return { from, pendings: end < 0 ? pendings : pendings.slice(0, end) }
  }

  /** A signal with the time of its wait by the clock of the host: that of the receiver may be ahead of it by another offset. */
  private dated(pending: PendingSignal): PendingSignal {
    const { seq, signal } = pending
    const { to } = signal
    if (to?.wait === undefined) return pending
    const wait = { ...to.wait, since: this.state.liveClock.ofHost(to.wait.since) }
    return new PendingSignal(seq, { ...signal, to: { ...to, wait } }, pending)
  }

  /** A failure of the store stops the space. */
  private safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.deps.group.stop(asStopped(this.state.space, error))
    }
  }

  /** Removes accepted signals, gives up permanently failed ones, and continues with the rest: at once, or after a delay. */
  private conclude(route: Route, batch: ReadonlyArray<PendingSignal>, answers: ReadonlyArray<unknown>): void {
    if (this.stopped) return
    const over: Array<PendingSignal> = []
    const undelivered: Array<PendingSignal> = []
    let failure: unknown
    batch.forEach((pending, i) => {
      const error = answers[i]
      const isHopeless = hopeless.has((error as { readonly code?: unknown } | undefined)?.code)
      if (!isHopeless) failure ??= error
      if (failure !== undefined || i >= answers.length) return
      over.push(pending)
      if (isHopeless) undelivered.push(new PendingSignal(this.state.number(), pending.signal, { undelivered: refusalOf(error) }))
    })
    this.safely(() => {
      if (over.length > 0) this.leave(route.space, over, undelivered)
      this.goOn(route, failure)
    })
  }

  private goOn(route: Route, failure: unknown): void {
    if (failure !== undefined) this.wait(route, failure)
    else {
      route.failures = 0
      if (this.state.departures.has(route.space)) return this.send(route)
      this.routes.delete(route.space)
    }
    if (this.isQuiet) this.tellQuiet()
  }

  /**
   * Removes the rows of completed deliveries. Permanently failed signals return to the inbox, and the next beat makes them dead
   * letters.
   */
  private leave(space: string, over: ReadonlyArray<PendingSignal>, undelivered: ReadonlyArray<PendingSignal>): void {
    const { departures, inbox, store } = this.state
    store.append({
      entry: undefined,
      cells: [],
      receipts: [],
      queued: undelivered,
      dequeued: over.map(({ seq }) => seq),
      blobs: [],
      observations: []
    })
    departures.over(space, over)
    for (const pending of undelivered) {
      pending.stored = true
      inbox.push(pending)
    }
    // No caller waits for this flush. A row that stayed for long could be delivered again after the receiver forgot the id.
    this.deps.barrier.await({ open: nothing, fail: nothing })
  }

  /** Waits 1, 2, 4 … beats, up to the limit of the backoff. */
  private wait(route: Route, failure: unknown): void {
    const { host, reporter, settings: { limits, tempo }, space } = this.state
    // A receiver that is full or being reopened accepts the next attempt, so the first failure is not reported.
    if (route.failures === 1) {
      const what = `space "${route.space}" takes nothing`
      reporter.report(UnexpectedFailure.after("outbox/waiting", failure, { space, origin: { kind: "runtime", name: "outbox" }, what }))
    }
    const beats = Math.min(2 ** route.failures++, limits.backoffBeats)
    route.state = "waiting"
    route.disarm = host.timer(host.now() + beats * Math.max(tempo, 1), () => {
      if (!this.stopped) this.send(route)
    })
  }

  private tellQuiet(): void {
    for (const run of this.quiet.splice(0)) run()
  }
}
