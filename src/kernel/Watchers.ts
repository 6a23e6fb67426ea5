/**
 * Watchers: who hears of a document's durable changes.
 *
 * @module
 */
import type { Address } from "../cell/Address.ts"
import * as Change from "../cell/Change.ts"
import * as Codec from "../cell/Document.ts"
import type { Staged } from "../stage/Stage.ts"
import type { LiveBody } from "./Body.ts"
import type { Beat } from "./Commit.ts"
import { others, type Step } from "./Foreign.ts"
import * as Missed from "./Missed.ts"
import type { Observation } from "./Space.ts"

/** Told of each durable change of a document. */
type Watcher = (beat: number, change: Pick<Staged, "before" | "after">, steps: ReadonlyArray<Step> | undefined) => void

/** What is watched, and under which group. */
export interface Watched {
  readonly address: Address
  /** Changes that were made under the same group are not told. */
  readonly changeGroup?: string | undefined
}

/** How a watcher begins: the newest beat then, and what it is told of up to there. */
interface Start {
  readonly beat: number
  readonly seen: ReadonlyArray<Observation>
}

/** Where a watcher finds what it is told at first. */
type Source = Pick<LiveBody, "documents" | "store">

/** A watcher that was added. */
export interface Watching {
  /** What is told at first is durable, and may be told. */
  readonly begin: () => void
  readonly end: () => void
}

/**
 * The watchers of one space, by the document that they watch.
 *
 * @category models
 * @since 0.1.0
 */
export class Watchers {
  private readonly byKey = new Map<string, Set<Watcher>>()

  /** Adds one that is told what it has to know at first, when that is durable, and then each change of what lies at the address. */
  add({ address, changeGroup }: Watched, start: Start, tell: (observation: Observation) => void): Watching {
    const read = { path: address.path, shallow: false }
    let begun = false
    const begin = (): void => {
      if (!begun) for (const observation of start.seen) tell(observation)
      begun = true
    }
    const differs = ({ after, before }: Pick<Staged, "before" | "after">): boolean =>
      Change.triggers(read, { path: [], before: Codec.read(before, []), after: Codec.read(after, []) })
    const watcher: Watcher = (beat, change, steps) => {
      if (beat <= start.beat) return
      begin()
      const isOwn = changeGroup !== undefined && steps !== undefined && !others(steps, changeGroup, change).some(differs)
      if (!isOwn && differs(change)) tell({ beat, value: Codec.read(change.after, address.path) })
    }
    const watchers = this.byKey.get(address.key) ?? new Set()
    this.byKey.set(address.key, watchers)
    watchers.add(watcher)
    return {
      begin,
      end: () => {
        watchers.delete(watcher)
        if (watchers.size === 0 && this.byKey.get(address.key) === watchers) this.byKey.delete(address.key)
      }
    }
  }

  /** How a watcher of an address begins: with what lies there, or with what changed after the beat that it knows. */
  static start({ documents, store }: Source, address: Address, after: number | undefined): Start {
    const { beat } = store.head()
    const seen = after === undefined ? undefined : Missed.since(store, address, after)
    if (typeof seen === "object") return { beat, seen }
    const value = Codec.read(documents.read(address.key), address.path)
    return { beat, seen: [seen === undefined ? { beat, value } : { beat, value, missed: seen }] }
  }

  /** Tells of a beat that is durable. */
  publish(beat: Beat): void {
    if (this.byKey.size === 0) return
    for (const change of beat.changes) {
      const { key } = change.address
      for (const watcher of this.byKey.get(key) ?? []) watcher(beat.number, change, beat.steps.get(key))
    }
  }
}
