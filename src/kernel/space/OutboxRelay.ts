/**
 * The outbox: signals on their way to other spaces.
 *
 * A signal for another space is a row of its beat's batch, and leaves when that
 * is durable. The row goes when the receiver has made the signal durable as an
 * event of its own, whose id is a digest of the sender and the signal's id, so
 * that a second delivery after a crash is found out there. Those for one space
 * arrive in the order in which they were sent; where it cannot take them, they
 * are sent again after a wait. What waits is mostly in the store. (Architecture, section 5, "Lineage".)
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Accident from "../../diagnostic/Accident.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { LiveBody } from "../beat/Body.ts"
import { failure } from "../model/Failure.ts"
import type { Group } from "../beat/Group.ts"
import { Pending, type Undelivered } from "../model/Signal.ts"
import { SpaceStopped } from "../model/SpaceError.ts"

/** A space that takes what another one sends. */
export interface Peer {
  /** Takes a signal of the space `from`; `accepted` is called when it is durable. */
  readonly arrive: (from: string, pending: Pending, hears: { readonly accepted: () => void; readonly fail: (error: unknown) => void }) => void
}

/** The space of a name: opened, or made where the configuration says so. */
export type ResolvePeer = (space: string) => Effect.Effect<Peer, PersistenceError>

/** What the outbox stands on. */
interface Dependencies {
  readonly resolvePeer: ResolvePeer
  readonly group: Pick<Group, "await" | "stop">
}

/** What no later attempt can mend. */
const hopeless: ReadonlySet<unknown> = new Set(["space/unknown", "space/name", "signal/id-reused", "signal/invalid"])

/** The way to one space. */
interface Route {
  readonly space: string
  state: "sending" | "waiting"
  /** Attempts that failed in a row. */
  failures: number
  disarm: () => void
}

const nothing = (): void => {}

/**
 * The outbox of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class OutboxRelay {
  private readonly body: LiveBody
  private readonly deps: Dependencies
  private readonly routes = new Map<string, Route>()
  private readonly quiet: Array<() => void> = []
  private stopped = false

  constructor(body: LiveBody, deps: Dependencies) {
    this.body = body
    this.deps = deps
  }

  /** Takes in what is durable here and is to be handed over. */
  add(outgoing: ReadonlyArray<Pending>): void {
    for (const pending of outgoing) this.body.departures.add(pending)
    if (outgoing.length > 0) this.begin()
  }

  /** Calls back when nothing is being handed over: at once, or later. What waits for another attempt does not count. */
  whenQuiet(run: () => void): void {
    if (this.isQuiet) run()
    else this.quiet.push(run)
  }

  /** Whether nothing is being handed over. */
  get isQuiet(): boolean {
    return this.stopped || [...this.routes.values()].every(({ state }) => state !== "sending")
  }

  /** Whether nothing waits to be handed over. */
  get isEmpty(): boolean {
    return this.routes.size === 0 && this.body.departures.isEmpty
  }

  /** Hands over nothing any more; what is left is in the store. */
  stop(): void {
    this.stopped = true
    for (const { disarm } of this.routes.values()) disarm()
    this.tellQuiet()
  }

  /** Sets out to each space that something waits for, and that nothing is on its way to. */
  begin(): void {
    if (this.stopped) return
    for (const space of this.body.departures.spaces) {
      if (this.routes.has(space)) continue
      const route: Route = { space, state: "sending", failures: 0, disarm: nothing }
      this.routes.set(space, route)
      this.send(route)
    }
  }

  private send(route: Route): void {
    route.state = "sending"
    Effect.runFork(this.deps.resolvePeer(route.space)).addObserver((exit) => {
      if (this.stopped) return
      this.safely(() => {
        const batch = this.body.departures.next(route.space)
        if (Exit.isSuccess(exit)) void this.hand(batch, exit.value).then((answers) => this.settle(route, batch, answers))
        else this.settle(route, batch, Array.from(batch, () => Cause.squash(exit.cause)))
      })
    })
  }

  /** What the store refuses stops the space. */
  private safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.deps.group.stop(new SpaceStopped({ space: this.body.space, reason: (error as Error).message }))
    }
  }

  /** Hands signals over, in order, up to the first that is not taken; answers what became of those: `undefined` where it was accepted. */
  private hand(batch: ReadonlyArray<Pending>, peer: Peer): Promise<ReadonlyArray<unknown>> {
    const answers: Array<Promise<unknown>> = []
    let refused = false
    for (const pending of batch) {
      if (refused) break
      answers.push(new Promise((resolve) => {
        const fail = (error: unknown): void => {
          refused = true
          resolve(error)
        }
        try {
          peer.arrive(this.body.space, pending, { accepted: () => resolve(undefined), fail })
        } catch (error) {
          fail(error)
        }
      }))
    }
    return Promise.all(answers)
  }

  /** Lets go of what was accepted, gives up what never will be, and goes on with the rest: at once, or after a wait. */
  private settle(route: Route, batch: ReadonlyArray<Pending>, answers: ReadonlyArray<unknown>): void {
    if (this.stopped) return
    const over: Array<Pending> = []
    const undelivered: Array<Pending> = []
    let failure: unknown
    batch.forEach((pending, i) => {
      const error = answers[i]
      const isHopeless = hopeless.has((error as { readonly code?: unknown } | undefined)?.code)
      if (!isHopeless) failure ??= error
      if (failure !== undefined || i >= answers.length) return
      over.push(pending)
      if (isHopeless) undelivered.push(new Pending(this.body.number(), pending.signal, { undelivered: failureOf(error) }))
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
      if (this.body.departures.has(route.space)) return this.send(route)
      this.routes.delete(route.space)
    }
    if (this.isQuiet) this.tellQuiet()
  }

  /** Removes the rows of what is over here; those that will never be delivered come back, for the next beat to put them with the dead letters. */
  private leave(space: string, over: ReadonlyArray<Pending>, undelivered: ReadonlyArray<Pending>): void {
    const { departures, inbox, store } = this.body
    store.append({ entry: undefined, cells: [], receipts: [], queued: undelivered, dequeued: over.map(({ seq }) => seq), blobs: [], observations: [] })
    departures.over(space, over)
    for (const pending of undelivered) {
      pending.stored = true
      inbox.push(pending)
    }
    // Nobody waits for that, but a row that stayed for long could be delivered when the receiver has forgotten the first time.
    this.deps.group.await({ open: nothing, fail: nothing })
  }

  /** Waits 1, 2, 4 … beats, up to the limit on backing off. */
  private wait(route: Route, failure: unknown): void {
    const { host, reporter, settings: { limits, tempo }, space } = this.body
    // A space that is full or being opened again takes the next attempt.
    if (route.failures === 1) reporter.report(Accident.after("outbox/waiting", failure, { space, origin: { kind: "runtime", name: "outbox" }, what: `space "${road.space}" takes nothing` }))
    const beats = Math.min(2 ** route.failures++, limits.backoffBeats)
    route.state = "waiting"
    route.disarm = host.wake(host.now() + beats * Math.max(tempo, 1), () => {
      if (!this.stopped) this.send(route)
    })
  }

  private tellQuiet(): void {
    for (const run of this.quiet.splice(0)) run()
  }
}

const failureOf = (error: unknown): Undelivered => {
  const { code, message, tag } = failure(error) as Undelivered
  return { tag, code, message }
}
