/**
 * Live queries: the value at an address, for the duration of a subscription.
 *
 * A subscription is demand: derived values at its address stay up to date. Subscribers
 * see durable values only.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import type { Value } from "../../cell/Value.ts"
import { isView } from "../../stage/View.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { expect } from "./Expected.ts"
import type { FlushedReads } from "./FlushedReads.ts"
import type { ReadError } from "./Expected.ts"
import * as Subscription from "./Subscription.ts"
import type { GroupCommit } from "../beat/loop/GroupCommit.ts"
import { MAX_WAITING } from "./CatchUp.ts"
import * as Queries from "./Queries.ts"
import type { LiveSources } from "./BeatView.ts"
import type { Observation, Space, Waits } from "./Space.ts"
import { CellHeld, type SpaceStopped } from "../model/SpaceError.ts"
import type { PendingPull, PullRequest } from "../derived/PendingPulls.ts"
import { ViewSubscriptions } from "./ViewSubscriptions.ts"
import { textOf } from "./Observed.ts"
import { newest, Subscriptions } from "./Subscriptions.ts"

/** The members of the state of a space that live queries use. */
export type State = Pick<
  LiveState,
  "clock" | "derivation" | "documents" | "durable" | "handshake" | "hash" | "host" | "lostBeats" | "reporter" |
  "settings" | "space" | "store"
>

/** A pull of a place. */
export interface Pull<A> extends Pick<PullRequest, "admits"> {
  readonly see: () => A
  /** Timeout in milliseconds. */
  readonly wait: number
}

/** The dependencies of live queries. */
interface Dependencies {
  readonly state: State
  readonly group: Pick<GroupCommit, "wake">
  readonly reads: Pick<FlushedReads, "at" | "look">
  /** Reports why the space stopped, once it has. Returns the call that cancels it. */
  readonly whenEnded: (tell: (error: SpaceStopped) => void) => () => void
  readonly live: LiveSources
}

/**
 * The live queries of one space.
 */
export class LiveQueries {
  readonly subscriptions = new Subscriptions()
  readonly views = new ViewSubscriptions()
  private readonly deps: Dependencies

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  readonly watch: Space["watch"] = (text, { after, changeGroup } = {}) =>
    Subscription.stream<Observation, ReadError>(lag, (feed) => {
      const { state, group, reads, whenEnded } = this.deps
      const ends: Array<() => void> = []
      const fail = (failure: Effect.Effect<never, ReadError>): void => feed.end(failure)
      try {
        const address = Address.parse(text)
        if (isView(address.id)) {
          const see = (): Observation => ({ beat: state.store.head().beat, value: this.read(text) })
          ends.push(this.views.watch({ address, after, reads, see }, { fail, tell: feed.tell }))
          ends.push(whenEnded((error) => fail(Effect.fail(error))))
          return () => ends.forEach((end) => end())
        }
        ends.push(state.derivation.watch(address), whenEnded((error) => fail(Effect.fail(error))))
        group.wake()
        ends.push(reads.look(() => this.subscriptions.start(state, address, after), {
          fail,
          seen: (seen) => {
            ends.push(this.subscriptions.add({ address, changeGroup }, feed.tell))
            feed.begin(seen)
          }
        }))
      } catch (error) {
        fail(Queries.refuse(error))
      }
      return () => ends.forEach((end) => end())
    })

  /** The newest committed value, once it is durable. */
  get(text: string): Effect.Effect<Value, ReadError> {
    return this.deps.reads.at(text, () => this.read(text))
  }

  /** The value at an address with settled sources. */
  value(text: string, { wait = this.deps.state.settings.limits.pullMillis }: Waits = {}): Effect.Effect<Value, ReadError | CellHeld> {
    return this.pull(text, { see: () => this.read(text), wait })
  }

  private read(text: string): Value {
    return Queries.read(this.deps.state, text, this.deps.live)
  }

  /** Reads an address whose sources are settled, as of the beat that settled them, once that is durable. */
  pull<A>(text: string, { admits, see, wait }: Pull<A>): Effect.Effect<A, ReadError | CellHeld> {
    return Effect.flatMap(watchable(text), (address) =>
      Effect.suspend(() => {
        const { reads, state } = this.deps
        let want: PendingPull | undefined
        const settled = Effect.callback<() => A, SpaceStopped>((resume) => {
          const ends: Array<() => void> = []
          const end = (): void => ends.forEach((end) => end())
          const over = (how: Effect.Effect<() => A, SpaceStopped>): void => {
            end()
            resume(how)
          }
          want = state.derivation.want({ address, admits, reached: () => over(Effect.succeed(seen(see))) })
          if (want === undefined) return resume(Effect.succeed(see))
          ends.push(want.callOff, this.deps.whenEnded((error) => over(Effect.fail(error))))
          this.deps.group.wake()
          return Effect.sync(end)
        })
        return settled.pipe(
          Effect.timeoutOrElse({ duration: wait, orElse: () => Effect.fail(held(text, want?.until, state)) }),
          Effect.flatMap((see) =>
            Effect.callback<A, ReadError>((resume) => {
              const seen = (found: A): void => resume(Effect.succeed(found))
              return Effect.sync(reads.look(see, { seen, fail: resume }))
            }))
        )
      }))
  }
}

/** Reads at once, and returns the result or throws the error later. */
const seen = <A>(see: () => A): () => A => {
  try {
    const found = see()
    return () => found
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Retry delay of a pull that no beat has served, in milliseconds. */
const SOON = 1000

const held = (address: string, until: number | undefined, { clock, host }: State): CellHeld => {
  const now = host.now()
  const at = Math.max(until ?? now + SOON, now + 1)
  return new CellHeld({ address, at: at - clock.shifted, after: at - now })
}

const watchable = (text: string) => Effect.try({ try: () => Queries.watchable(text), catch: expect<ReadError>(Address.InvalidAddress) })

/** A subscriber that lags too far behind receives the newest value alone, marked as such. */
const lag: Subscription.Lag<Observation> = {
  most: MAX_WAITING,
  weigh: (observation) => textOf(observation).length,
  left: (_waiting, next) => [newest(next)]
}
