/**
 * The documents of a space: a cache in memory, over the store.
 *
 * The cache is limited in characters. It has two generations: recent documents, up
 * to half of the limit, and earlier ones, which stay if they are used before the
 * recent half fills again. Absence is cached too, because each new document asks
 * for it.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import { below } from "../../persistence/Below.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Bindings from "../../registry/Bindings.ts"
import { type RunScope, withoutGuards } from "../../registry/RunScope.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"

const none: ReadonlyArray<string> = []

/** The size of an entry beside its text, in characters. */
const OVERHEAD = 200

/**
 * The committed documents of one space.
 */
export class Documents implements CommittedState {
  private readonly store: SpaceStore
  private readonly limit: number
  private readonly outside: RunScope["outside"]
  private recent = new Map<string, Document | null>()
  private earlier: ReadonlyMap<string, Document | null> = new Map()
  /** The size of the recent generation, in characters. */
  private size = 0
  /** Content that no beat has captured yet. */
  private arrived = new Set<string>()
  /** The last read failure of the store, if there was one. */
  failure: unknown

  /** `outside` calls the store out of the scope of runs, which read through this cache. */
  constructor(store: SpaceStore, limit: number, outside: RunScope["outside"] = withoutGuards.outside) {
    this.store = store
    this.limit = limit
    this.outside = outside
  }

  read(key: string): Document | undefined {
    const known = this.recent.get(key)
    if (known !== undefined) return known ?? undefined
    const before = this.earlier.get(key)
    const document = before === undefined ? this.load(key) : before ?? undefined
    this.put(key, document)
    return document
  }

  private load(key: string): Document | undefined {
    const text = this.ask(() => this.store.read(key))
    return text === undefined ? undefined : Codec.decode(text)
  }

  /** Applies a committed change. */
  put(key: string, document: Document | undefined): void {
    const entry = document ?? null
    const before = this.recent.get(key)
    this.size += cost(key, entry) - (before === undefined ? 0 : cost(key, before))
    if (this.size > this.limit / 2) {
      this.earlier = this.recent
      this.recent = new Map()
      this.size = cost(key, entry)
    }
    // The earlier generation may hold an older text. It is never used, and is dropped first.
    this.recent.set(key, entry)
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    return this.ask(() => this.store.children(scope, id))
  }

  blob(hash: string): Uint8Array | undefined {
    return this.arrived.has(hash) ? undefined : LargeContent.whole(hash, this.ask(() => this.store.blob(hash)))
  }

  /** Whether runs see content with this digest. */
  shows(hash: string): boolean {
    return !this.arrived.has(hash) && this.ask(() => this.store.holds(hash))
  }

  /** Notes stored content, which runs see from the next capture on. */
  arrive(hash: string): void {
    this.arrived.add(hash)
  }

  /** The content stored since the last capture, which runs see from now on. */
  capture(): ReadonlyArray<string> {
    if (this.arrived.size === 0) return none
    const hashes = [...this.arrived]
    this.arrived = new Set()
    return hashes
  }

  /** Reads the store and records a failure, so that a run that catches it cannot continue as if the document were absent. */
  private ask<A>(read: () => A): A {
    try {
      return this.outside(read)
    } catch (error) {
      this.failure ??= error
      throw error
    }
  }
}

const cost = (key: string, entry: Document | null): number => OVERHEAD + key.length + (entry?.text.length ?? 0) * 2

/**
 * The binding lists set at run time, by cell.
 */
export const bindingsIn = (store: Pick<SpaceStore, "below">, documents: Documents): Bindings.BindingLists => {
  const bindings = new Bindings.BindingLists()
  for (const key of below(store, Bindings.FOLDER)) {
    const list = Codec.read(documents.read(key), [])
    if (list !== undefined) bindings.put(key.slice(Bindings.FOLDER.length), list as unknown as ReadonlyArray<Bindings.Binding>)
  }
  return bindings
}
