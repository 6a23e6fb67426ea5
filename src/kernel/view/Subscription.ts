/**
 * Feeds: what the space tells to one listener, as a stream.
 *
 * Whoever tells never waits for a listener: what it has not taken yet waits in
 * order, up to a limit; beyond it, the feed says what is left of it. A listener
 * that waits goes on in the very call that tells it, until it waits again.
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

/** How far a listener may lag behind, beside a number of values. */
export interface Lag<A> {
  /** The weight of a value, where weights count, and the most that may wait. */
  readonly weigh?: (value: A) => number
  readonly most?: number
  /** What is left for one that lags too far: of what waits, oldest first, with one more. */
  readonly left: (waiting: Array<A>, next: A) => Array<A>
}

/** What a listener takes: all that waits, its failure or its end. */
type Taken<A, E> = Effect.Effect<Arr.NonEmptyReadonlyArray<A>, E | Cause.Done>

/**
 * A listener's side of what it is told.
 *
 * @category models
 * @since 0.1.0
 */
export class Subscription<A, E = never> {
  private waiting: Array<A> = []
  private take: ((taken: Taken<A, E>) => void) | undefined
  private over: Effect.Effect<never, E | Cause.Done> | undefined
  private readonly lag: Lag<A>
  /** Of all that waits. */
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

  /** Tells several at once, before all others: they wait in order, however many they are. */
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

  /** Whether a value may wait beside the others; one alone always may. */
  private carries(value: A): boolean {
    const { most = Infinity, weigh } = this.lag
    if (weigh === undefined) return true
    const weight = this.waiting.length === 0 ? 0 : this.weight
    this.weight = weight + weigh(value)
    return weight === 0 || this.weight <= most
  }

  /** What comes after all that waits: its failure, or its end. */
  end(how: Effect.Effect<never, E | Cause.Done>): void {
    if (this.over !== undefined) return
    this.over = how
    this.take?.(how)
  }

  /** All that waits, or the next that comes; one at a time asks. */
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
 * What a feed is told from when somebody listens until nobody does; `begin` says how to end it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const stream = <A, E = never>(lag: Lag<A>, begin: (feed: Subscription<A, E>) => () => void): Stream.Stream<A, E> =>
  Stream.fromChannel(Channel.fromTransform((_, scope) =>
    Effect.suspend(() => {
      const feed = new Subscription<A, E>(lag)
      return Effect.as(Scope.addFinalizer(scope, Effect.sync(begin(feed))), feed.pull)
    })
  ))

/**
 * Numbers for a listener that lags: the newest is left.
 *
 * @category combinators
 * @since 0.1.0
 */
export const newest: Lag<number> = {
  left: (waiting, next) => {
    waiting.shift()
    waiting.push(next)
    return waiting
  }
}
