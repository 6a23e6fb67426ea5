/**
 * Live queries: what lies at an address, for as long as somebody looks.
 *
 * Whoever looks is demand: what is derived there is kept up to date. Only what
 * is durable is told. (Architecture, section 6.)
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as EffectQueue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Address from "../cell/Address.ts"
import type { LiveBody } from "./Body.ts"
import { expected } from "./Expected.ts"
import type { ReadError } from "./Expected.ts"
import type { Group } from "./Group.ts"
import { MAX_MISSED } from "./Missed.ts"
import * as Reading from "./Reading.ts"
import type { Observation, Space } from "./Space.ts"
import type { SpaceStopped } from "./SpaceError.ts"
import { Watchers } from "./Watchers.ts"

/** What it stands on. */
interface Around {
  readonly body: LiveBody
  readonly group: Pick<Group, "wake">
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  /** Why the space stopped, once it did. */
  readonly ended: Effect.Effect<SpaceStopped>
}

/**
 * The live queries of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Observing {
  readonly watchers = new Watchers()
  private readonly around: Around

  constructor(around: Around) {
    this.around = around
  }

  readonly watch: Space["watch"] = (text, { after, changeGroup } = {}) => {
    const { body, durably, ended, group } = this.around
    return Stream.callback<Observation, ReadError>((queue) =>
      Effect.gen({ self: this }, function*() {
        const address = yield* watchable(text)
        const unwatch = body.derivation.watch(address)
        yield* Effect.addFinalizer(() => Effect.sync(unwatch))
        group.wake()
        const { begin, end } = yield* durably(() => this.watchers.add({ address, changeGroup }, Watchers.start(body, address, after), (observation) => offer(queue, observation)))
        begin()
        yield* Effect.addFinalizer(() => Effect.sync(end))
        return yield* Effect.flatMap(ended, Effect.fail)
      }), { bufferSize: MAX_MISSED })
  }

  /** Waits until what an address is derived from is up to date. */
  reach(text: string): Effect.Effect<void, ReadError> {
    const { body, ended, group } = this.around
    const reached = Effect.flatMap(watchable(text), (address) =>
      Effect.callback<void>((resume) => {
        if (!body.derivation.want(address, () => resume(Effect.void))) return resume(Effect.void)
        group.wake()
      }))
    return Effect.raceFirst(reached, Effect.flatMap(ended, Effect.fail))
  }
}

const watchable = (text: string) => Effect.try({ try: () => Reading.watchable(text), catch: expected<ReadError>(Address.InvalidAddress) })

/** Has an observer told, who is told in one piece that it lags too far behind to hear of each value. */
const offer = <E>(queue: EffectQueue.Queue<Observation, E>, observation: Observation): void => {
  if (EffectQueue.sizeUnsafe(queue) < MAX_MISSED) return void EffectQueue.offerUnsafe(queue, observation)
  while (EffectQueue.sizeUnsafe(queue) > 0) EffectQueue.takeUnsafe(queue)
  EffectQueue.offerUnsafe(queue, { ...observation, missed: `more than ${MAX_MISSED} values were waiting to be taken` })
}
