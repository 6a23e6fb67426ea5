/**
 * Subscriptions to durable changes of documents.
 *
 * @module
 */
import type { Address, Path } from "../../cell/Address.ts"
import * as Change from "../../cell/Change.ts"
import * as Codec from "../../cell/Document.ts"
import type { StagedDocument } from "../../stage/Stage.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { ChurnMap } from "../inbox/ChurnMap.ts"
import type { Beat } from "../beat/step/Commit.ts"
import { others } from "../model/ExternalChange.ts"
import * as CatchUp from "./CatchUp.ts"
import { MAX_MISSED, MAX_WAITING } from "./CatchUp.ts"
import { observe, shareText } from "./Observed.ts"
import type { Observation } from "./Space.ts"

/** A subscription with its callback. */
interface Subscriber {
  readonly watched: WatchedPlace
  readonly tell: (observation: Observation) => void
}

/** The address and the group of a subscription. */
export interface WatchedPlace {
  readonly address: Address
  /** Changes made under the same group are not published to it. */
  readonly changeGroup?: string | undefined
}

/** The state behind the first values of a subscription. */
type Source = Pick<LiveState, "documents" | "store">

/**
 * The subscriptions of one space, by document.
 */
export class Subscriptions {
  private readonly byKey = new ChurnMap<string, Set<Subscriber>>()
  private readonly missed = new CatchUp.MissedValues()

  /** Adds a subscription to an address, from the next durable beat on. Returns the call that ends it. */
  add(watched: WatchedPlace, tell: (observation: Observation) => void): () => void {
    const { key } = watched.address
    const subscriber: Subscriber = { watched, tell }
    const subscribers = this.byKey.get(key) ?? new Set()
    this.byKey.set(key, subscribers)
    subscribers.add(subscriber)
    return () => {
      subscribers.delete(subscriber)
      if (subscribers.size === 0 && this.byKey.get(key) === subscribers) this.byKey.delete(key)
    }
  }

  /** The first values of a subscription: the current one, or the changes after the beat that it knows. */
  start({ documents, store }: Source, address: Address, after: number | undefined): ReadonlyArray<Observation> {
    const { beat } = store.head()
    const seen = after === undefined ? undefined : this.missed.since(store, address, after)
    if (typeof seen === "object") return seen
    const now = observe(beat, documents.read(address.key), address.path)
    return [seen === undefined ? now : missing(now, seen)]
  }

  /** Publishes a durable beat. All subscriptions to one address share one observation. */
  publish(beat: Beat): void {
    if (this.byKey.size === 0) return
    for (const change of beat.changes) {
      const { key } = change.address
      const subscribers = this.byKey.get(key)
      if (subscribers === undefined) continue
      const steps = beat.steps.get(key)
      const seen = new Map<string, Observation | undefined>()
      for (const { tell, watched: { address, changeGroup } } of subscribers) {
        const { path, text } = address
        if (!seen.has(text)) seen.set(text, differs(path, change) ? observe(beat.number, change.after, path) : undefined)
        const observation = seen.get(text)
        const isOwn = changeGroup !== undefined && steps !== undefined &&
          !others(steps, changeGroup, change).some((part) => differs(path, part))
        if (observation !== undefined && !isOwn) tell(observation)
      }
    }
  }
}

const differs = (path: Path, { after, before }: Pick<StagedDocument, "before" | "after">): boolean =>
  Change.triggers({ path, shallow: false }, { path: [], before: Codec.read(before, []), after: Codec.read(after, []) })

const missing = (observation: Observation, missed: string): Observation => {
  const told: Observation = { beat: observation.beat, missed, get value() { return observation.value } }
  shareText(told, observation)
  return told
}

const lagging = new WeakMap<Observation, Observation>()

/**
 * The same observation, marked for subscribers that missed earlier ones.
 */
export const newest = (observation: Observation): Observation => {
  let told = lagging.get(observation)
  if (told === undefined) {
    told = missing(observation, `more than ${MAX_MISSED} values or ${MAX_WAITING} characters were waiting to be taken`)
    lagging.set(observation, told)
  }
  return told
}
