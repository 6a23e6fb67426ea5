/**
 * Subscriptions to durable changes of documents.
 *
 * @module
 */
import type { Address, Path } from "../../cell/Address.ts"
import * as Change from "../../cell/Change.ts"
import * as Codec from "../../cell/Document.ts"
import type { Staged } from "../../stage/Stage.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import { ChurnMap } from "../inbox/ChurnMap.ts"
import type { Beat } from "../beat/Commit.ts"
import { others } from "../model/ExternalChange.ts"
import * as CatchUp from "./CatchUp.ts"
import { MAX_MISSED, MAX_WAITING } from "./CatchUp.ts"
import type { Observation } from "./Space.ts"

/** A subscription with its callback. */
interface Subscriber {
  readonly watched: Watched
  readonly tell: (observation: Observation) => void
}

/** The address and the group of a subscription. */
export interface Watched {
  readonly address: Address
  /** Changes made under the same group are not published to it. */
  readonly changeGroup?: string | undefined
}

/** The state behind the first values of a subscription. */
type Source = Pick<LiveState, "documents" | "store">

/**
 * The subscriptions of one space, by document.
 *
 * @category models
 * @since 0.1.0
 */
export class Subscriptions {
  private readonly byKey = new ChurnMap<string, Set<Subscriber>>()
  private readonly missed = new CatchUp.Missed()

  /** Adds a subscription to an address, from the next durable beat on. Returns the call that ends it. */
  add(watched: Watched, tell: (observation: Observation) => void): () => void {
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

const differs = (path: Path, { after, before }: Pick<Staged, "before" | "after">): boolean =>
  Change.triggers({ path, shallow: false }, { path: [], before: Codec.read(before, []), after: Codec.read(after, []) })

/** The texts of observations that do not know theirs, each made once for all subscribers. */
const texts = new WeakMap<Observation, string>()

/**
 * An observation of a document with a mutable value. Subscribers share the observation, and each read decodes the value anew.
 * It is a class, because a literal with a getter costs the engine a shape for each beat.
 */
class Decoded implements Observation {
  readonly beat: number
  readonly #document: Codec.Document
  readonly #path: Path
  #text: string | undefined

  constructor(beat: number, document: Codec.Document, path: Path) {
    this.beat = beat
    this.#document = document
    this.#path = path
  }

  get value(): Observation["value"] {
    return Codec.read(this.#document, this.#path)
  }

  /** The text of the value, made once. */
  get text(): string {
    if (this.#path.length === 0) return this.#document.text
    return this.#text ??= encoded(this.value)
  }

  toJSON(): Observation {
    return { beat: this.beat, value: this.value }
  }
}

const encoded = (value: Observation["value"]): string => value === undefined ? "null" : Codec.encode(value).text

const observe = (beat: number, document: Codec.Document | undefined, path: Path): Observation => {
  if (document === undefined) return { beat, value: undefined }
  return document.plain === undefined ? new Decoded(beat, document, path) : { beat, value: Codec.read(document, path) }
}

const missing = (observation: Observation, missed: string): Observation => {
  const told: Observation = { beat: observation.beat, missed, get value() { return observation.value } }
  texts.set(told, textOf(observation))
  return told
}

/**
 * The text of an observation; `null` for an absent value.
 *
 * @category getters
 * @since 0.1.0
 */
export const textOf = (observation: Observation): string => {
  if (observation instanceof Decoded) return observation.text
  let text = texts.get(observation)
  if (text === undefined) {
    text = encoded(observation.value)
    texts.set(observation, text)
  }
  return text
}

const lagging = new WeakMap<Observation, Observation>()

/**
 * The same observation, marked for subscribers that missed earlier ones.
 *
 * @category combinators
 * @since 0.1.0
 */
export const newest = (observation: Observation): Observation => {
  let told = lagging.get(observation)
  if (told === undefined) {
    told = missing(observation, `more than ${MAX_MISSED} values or ${MAX_WAITING} characters were waiting to be taken`)
    lagging.set(observation, told)
  }
  return told
}
