/**
 * The read log: the places that a run read, and the documents that it saw there.
 *
 * The merge uses the log to decide whether a run had read a place that an earlier run of the beat changed. A read of
 * the run's own writes does not count.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import { CHILDREN } from "./Children.ts"
import type { WriteSet } from "./WriteSet.ts"

/** The kind of read: a document, or the names below a cell. */
export type Depth = "deep" | "children"

/** The sources of a place. */
export interface Origins {
  /** Places inside documents, by the documents' keys. */
  readonly places: ReadonlyMap<string, ReadonlyArray<Address.Path>>
  /** The keys of the cells with names that were read. */
  readonly lists: ReadonlySet<string>
}

/** A place that was read. */
export interface Place {
  readonly address: Address.Address
  readonly depth: Depth
}

/** Returns the transitive sources of derived cells. The merge calls it only where the answer can decide. */
export interface Lineage {
  /** The sources of a run's read; `undefined` if no node derives the place. */
  readonly origins: (read: Address.Address, depth: Depth, run: number) => Origins | undefined
  /** Counts the nodes that came and went. While it is the same, so are the derived places. */
  readonly writers: number
  /** Whether nodes derive a place. */
  readonly isDerived: (place: Place) => boolean
  /** The changes that nodes read, other than through nodes. */
  readonly noticed: (changes: ReadonlyArray<EarlierChange>, run: number) => ReadonlyArray<EarlierChange>
  /** Whether a place derives from any of these changes, or from a node that has never run. The runs of the beat continue. */
  readonly covers: (place: Place, changes: ReadonlyArray<EarlierChange>, run: number) => boolean
  /** In a replay, what came of the earlier reads of a run; absent where there is a graph. */
  readonly recorded?: (run: number) => "stale" | "lost" | "current"
}

/** Reads of earlier runs that count as reads of a draft, because they cover what it writes. */
export interface EarlierReads {
  /** Whether a document differs from them at the written places. */
  readonly differs: (key: string, document: Document | undefined) => boolean
  /** Those of derived cells with a source that the draft writes. */
  readonly derived: ReadonlyArray<Place>
}

/** A change of an earlier run of the beat. */
export interface EarlierChange {
  /** The document. */
  readonly address: Address.Address
  readonly path: Address.Path
  /** Whether the document was created or deleted. */
  readonly isListed: boolean
}

/** The run that made the reads, as the merge sees it. */
export interface Reader {
  readonly run: number
  readonly own: WriteSet | undefined
  readonly lineage: Lineage | undefined
}

/** Tests whether a change invalidates a value derived from these places. */
export const derives = ({ lists, places }: Origins, { address, isListed, path }: EarlierChange): boolean => {
  if (places.get(address.key)?.some((place) => Address.overlaps(place, path)) === true) return true
  return isListed && lists.size > 0 && lists.has(Address.make(Address.parent(address.id), { scope: address.scope }).key)
}

/**
 * The reads of one run, in order.
 */
export class ReadLog {
  readonly addresses: Array<Address.Address> = []
  /** The documents that the run saw, parallel to the addresses. */
  readonly documents: Array<Document | undefined | typeof CHILDREN> = []
  /**
   * For a read after writes, by index: the number of the run's writes to the document, or of its documents when it
   * listed names. Usually a run reads before it writes, and such reads have no entry.
   */
  private after: Map<number, number> | undefined

  add(address: Address.Address, seen: Document | undefined | typeof CHILDREN, own: WriteSet | undefined): void {
    if (own !== undefined) this.note(address, seen, own)
    this.addresses.push(address)
    this.documents.push(seen)
  }

  private note(address: Address.Address, seen: Document | undefined | typeof CHILDREN, own: WriteSet): void {
    const count = seen === CHILDREN ? own.keys.length : own.writesTo(address.key).length
    if (count > 0) (this.after ??= new Map()).set(this.addresses.length, count)
  }

  get length(): number {
    return this.addresses.length
  }

  /** Returns the address of read number `i`. */
  address(i: number): Address.Address {
    return this.addresses[i]!
  }

  depth(i: number): Depth {
    return this.documents[i] === CHILDREN ? "children" : "deep"
  }

  /** Tests whether a read observed a place that an earlier run changed, other than through derivation. */
  shows(i: number, { address, isListed, path }: EarlierChange, own: WriteSet | undefined): boolean {
    const read = this.address(i)
    if (this.documents[i] === CHILDREN) {
      return isListed && read.scope === address.scope && Address.parent(address.id) === read.id && !this.isOwnName(i, address.key, own)
    }
    if (read.key !== address.key || !Address.overlaps(read.path, path)) return false
    return !this.isOwn(i, path.length > read.path.length ? path : read.path, own)
  }

  /** Returns the sources of a read; none if the run had written there itself. */
  origins(i: number, { lineage, own, run }: Reader): Origins | undefined {
    if (lineage === undefined) return undefined
    const read = this.address(i)
    if (this.documents[i] !== CHILDREN && this.isOwn(i, read.path, own)) return undefined
    return lineage.origins(read, this.depth(i), run)
  }

  /**
   * Tests whether the run had written a whole place before it read it. An increment or append depends on the previous
   * value. Moved array items need no check, because a move conflicts with each earlier write to that array.
   */
  private isOwn(i: number, path: Address.Path, own: WriteSet | undefined): boolean {
    const count = this.after?.get(i) ?? 0
    if (count === 0 || own === undefined) return false
    for (const { address, kind } of own.writesTo(this.address(i).key).slice(0, count)) {
      if (kind === "set" && address.path.length <= path.length && Address.overlaps(address.path, path)) return true
    }
    return false
  }

  /** Tests whether the run had written a document before it listed the names that include it. */
  private isOwnName(i: number, key: string, own: WriteSet | undefined): boolean {
    const count = this.after?.get(i) ?? 0
    const place = count === 0 || own === undefined ? -1 : own.keys.indexOf(key)
    return place >= 0 && place < count
  }
}
