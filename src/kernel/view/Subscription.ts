/**
 * Subscriptions: a bounded buffer between a space and one subscriber.
 *
 * The publisher never waits. Undelivered values wait in order, up to a limit; beyond it,
 * `Lag.left` decides which values remain. A waiting subscriber resumes within the call
 * that publishes, until it waits again.
 *
 * @module
 */
import type * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { MAX_MISSED } from "./CatchUp.ts"

/** How far a subscriber may lag behind, beside the number of values. */
export interface Lag<A> {
  /** The weight of a value, if weights count, and the highest total. */
  readonly weigh?: (value: A) => number
  readonly most?: number
  /** The remaining values after an overflow: of the waiting ones, oldest first, and the next one. */
  readonly left: (waiting: Array<A>, next: A) => Array<A>
}

/** The result of a pull: all waiting values, the failure, or the end. */
type Taken<A, E> = Effect.Effect<Arr.NonEmptyReadonlyArray<A>, E | Cause.Done>

/**
 * The buffer of one subscriber.
 */
export class Subscription<A, E = never> {
  private waiting: Array<A> = []
  private take: ((taken: Taken<A, E>) => void) | undefined
  private over: Effect.Effect<never, E | Cause.Done> | undefined
  private readonly lag: Lag<A>
  /** Total weight of the waiting values. */
  private weight = 0

  constructor(lag: Lag<A>) {
    this.lag = lag
  }

  readonly tell = (value: A): void => {
    const { over, take, waiting } = this
    if (over !== undefined) return
    if (take !== undefined) {
      this.take = undefined
      take(Effect.succeed([value]))
    } else if (waiting.length < MAX_MISSED && this.carries(value)) waiting.push(value)
    else this.lagged(value)
  }

  /** Publishes several values before all others. They wait in order, without a limit. */
  begin(values: ReadonlyArray<A>): void {
    const { over, take } = this
    const [first, ...rest] = values
    if (over !== undefined || first === undefined) return
    if (take === undefined) return void this.waiting.push(...values)
    this.take = undefined
    take(Effect.succeed([first, ...rest]))
  }

  private lagged(value: A): void {
    this.waiting = this.lag.left(this.waiting, value)
    const { weigh } = this.lag
    if (weigh !== undefined) this.weight = this.waiting.reduce((sum, kept) => sum + weigh(kept), 0)
  }

  /** Whether a value may wait beside the others; a single value always may. */
  private carries(value: A): boolean {
    const { most = Infinity, weigh } = this.lag
    if (weigh === undefined) return true
    const weight = this.waiting.length === 0 ? 0 : this.weight
    this.weight = weight + weigh(value)
    return weight === 0 || this.weight <= most
  }

  /** Ends the subscription after all waiting values, with a failure or normally. */
  end(how: Effect.Effect<never, E | Cause.Done>): void {
    if (this.over !== undefined) return
    this.over = how
    this.take?.(how)
  }

  /** All waiting values, or else the next one. Only one pull may wait. */
  readonly pull: Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E> = Effect.callback((resume) => {
    const { over, waiting } = this
    if (waiting.length > 0) {
      this.waiting = []
      return resume(Effect.succeed(waiting as unknown as Arr.NonEmptyReadonlyArray<A>))
    }
    if (over !== undefined) return resume(over)
    this.take = resume
    return Effect.sync(() => {
      if (this.take === resume) this.take = undefined
    })
  })
}

/**
 * A stream over a subscription that exists while the stream runs. `begin` returns the call that ends it.
 */
export const stream = <A, E = never>(lag: Lag<A>, begin: (feed: Subscription<A, E>) => () => void): Stream.Stream<A, E> =>
  Stream.fromChannel(Channel.fromTransform((_, scope) =>
    Effect.suspend(() => {
      const feed = new Subscription<A, E>(lag)
      return Effect.as(Scope.addFinalizer(scope, Effect.sync(begin(feed))), feed.pull)
    })
  ))

/**
 * Lag of a subscription to numbers: the newest number remains.
 */
export const newest: Lag<number> = {
  left: (waiting, next) => {
    waiting.shift()
    waiting.push(next)
    return waiting
  }
}
