/**
 * Live queries: what lies at an address, for as long as somebody looks.
 *
 * Whoever looks is demand: what is derived there is kept up to date. Only what
 * is durable is told. (Architecture, section 6.)
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../cell/Address.ts"
import type { LiveBody } from "./Body.ts"
import { expected } from "./Expected.ts"
import type { ReadError } from "./Expected.ts"
import * as Feed from "./Feed.ts"
import type { Group } from "./Group.ts"
import { MAX_MISSED } from "./Missed.ts"
import * as Reading from "./Reading.ts"
import type { Observation, Space } from "./Space.ts"
import type { SpaceStopped } from "./SpaceError.ts"
import { Watchers } from "./Watchers.ts"

/** Who looks: told what was found, or that nothing can be. */
export interface Looker<A> {
  readonly seen: (found: A) => void
  readonly fail: (failure: Effect.Effect<never, ReadError>) => void
}

/** What it stands on. */
interface Around {
  readonly body: LiveBody
  readonly group: Pick<Group, "wake">
  /** Looks when all that can be seen is durable; answers how not to be told. */
  readonly look: <A>(see: () => A, looker: Looker<A>) => () => void
  /** Tells why the space stopped, once it did; answers how not to be told. */
  readonly whenEnded: (tell: (error: SpaceStopped) => void) => () => void
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

  readonly watch: Space["watch"] = (text, { after, changeGroup } = {}) =>
    Feed.stream<Observation, ReadError>(lag, (feed) => {
      const { body, group, look, whenEnded } = this.around
      const ends: Array<() => void> = []
      const fail = (failure: Effect.Effect<never, ReadError>): void => feed.end(failure)
      try {
        const address = Reading.watchable(text)
        ends.push(body.derivation.watch(address), whenEnded((error) => fail(Effect.fail(error))))
        group.wake()
        ends.push(look(() => Watchers.start(body, address, after), {
          fail,
          seen: (seen) => {
            ends.push(this.watchers.add({ address, changeGroup }, feed.tell))
            for (const observation of seen) feed.tell(observation)
          }
        }))
      } catch (error) {
        fail(Reading.refused(error))
      }
      return () => ends.forEach((end) => end())
    })

  /** Waits until what an address is derived from is up to date. */
  reach(text: string): Effect.Effect<void, ReadError> {
    const { body, group, whenEnded } = this.around
    return Effect.flatMap(watchable(text), (address) =>
      Effect.callback<void, SpaceStopped>((resume) => {
        const ends: Array<() => void> = []
        const end = (): void => ends.forEach((end) => end())
        const over = (how: Effect.Effect<void, SpaceStopped>): void => {
          end()
          resume(how)
        }
        const callOff = body.derivation.want(address, () => over(Effect.void))
        if (callOff === undefined) return resume(Effect.void)
        ends.push(callOff, whenEnded((error) => over(Effect.fail(error))))
        group.wake()
        return Effect.sync(end)
      }))
  }
}

const watchable = (text: string) => Effect.try({ try: () => Reading.watchable(text), catch: expected<ReadError>(Address.InvalidAddress) })

/** Whoever lags too far behind is told in one piece that it is not to hear of each value. */
const lag = (_waiting: unknown, next: Observation): Array<Observation> => [{ ...next, missed: `more than ${MAX_MISSED} values were waiting to be taken` }]
