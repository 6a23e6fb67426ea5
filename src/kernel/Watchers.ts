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
import { ChurnMap } from "./ChurnMap.ts"
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

/** Where a watcher finds what it is told at first. */
type Source = Pick<LiveBody, "documents" | "store">

/**
 * The watchers of one space, by the document that they watch.
 *
 * @category models
 * @since 0.1.0
 */
export class Watchers {
  private readonly byKey = new ChurnMap<string, Set<Watcher>>()

  /** Adds one that is told each change of what lies at an address, from the next beat that is durable on; answers how to end it. */
  add({ address, changeGroup }: Watched, tell: (observation: Observation) => void): () => void {
    const { key, path } = address
    const read = { path, shallow: false }
    const differs = ({ after, before }: Pick<Staged, "before" | "after">): boolean =>
      Change.triggers(read, { path: [], before: Codec.read(before, []), after: Codec.read(after, []) })
    const watcher: Watcher = (beat, change, steps) => {
      const isOwn = changeGroup !== undefined && steps !== undefined && !others(steps, changeGroup, change).some(differs)
      if (!isOwn && differs(change)) tell({ beat, value: Codec.read(change.after, path) })
    }
    const watchers = this.byKey.get(key) ?? new Set()
    this.byKey.set(key, watchers)
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.byKey.get(key) === watchers) this.byKey.delete(key)
    }
  }

  /** What a watcher of an address is told at first: what lies there, or what changed after the beat that it knows. */
  static start({ documents, store }: Source, address: Address, after: number | undefined): ReadonlyArray<Observation> {
    const { beat } = store.head()
    const seen = after === undefined ? undefined : Missed.since(store, address, after)
    if (typeof seen === "object") return seen
    const value = Codec.read(documents.read(address.key), address.path)
    return [seen === undefined ? { beat, value } : { beat, value, missed: seen }]
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
