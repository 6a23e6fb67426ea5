/**
 * The read log: where a run looked, what it saw there, and what of it the run
 * itself had written.
 *
 * The merge asks it whether a run knew a place that an earlier run of the beat
 * changed. A read of what the run itself wrote does not count. (Architecture,
 * section 3, "Isolation".)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import { CHILDREN } from "./Children.ts"
import type { Own } from "./Own.ts"

/** The result of a read: a document, or the names below a cell. */
export type Depth = "deep" | "children"

/** The sources of a place. */
export interface Origins {
  /** Places inside documents, by the documents' keys. */
  readonly places: ReadonlyMap<string, ReadonlyArray<Address.Path>>
  /** The keys of the cells whose lists of names were read. */
  readonly lists: ReadonlySet<string>
}

/** Tells what derived cells derive from, transitively. It is asked when runs are merged, and only where the answer may decide. */
export interface Lineage {
  /** The sources of a run's read; `undefined` where no node derives it. */
  readonly origins: (read: Address.Address, depth: Depth, run: number) => Origins | undefined
}

/** The changes of an earlier run of the beat. */
export interface Changed {
  /** The document. */
  readonly address: Address.Address
  readonly path: Address.Path
  /** Whether the document came to be, or went. */
  readonly isListed: boolean
}

/** What the merge knows of the run whose reads it asks about. */
export interface Reader {
  readonly run: number
  readonly own: Own | undefined
  readonly lineage: Lineage | undefined
}

/** Whether what was derived from these places would be derived anew after a change. */
export const derives = ({ lists, places }: Origins, { address, isListed, path }: Changed): boolean => {
  if (places.get(address.key)?.some((place) => Address.overlaps(place, path)) === true) return true
  return isListed && lists.size > 0 && lists.has(Address.make(Address.parent(address.id), { scope: address.scope }).key)
}

/**
 * The reads of one run, in order.
 *
 * @category models
 * @since 0.1.0
 */
export class ReadLog {
  readonly addresses: Array<Address.Address> = []
  /** Beside each address, what the run saw there. */
  readonly documents: Array<Document | undefined | typeof CHILDREN> = []
  /**
   * Of a read after writes, by its place: how many writes the run had made to the document, or how many documents it had written before it
   * listed names. Reads before any write of the run have no entry, and they are the usual ones.
   */
  private after: Map<number, number> | undefined

  add(address: Address.Address, seen: Document | undefined | typeof CHILDREN, own: Own | undefined): void {
    if (own !== undefined) this.note(address, seen, own)
    this.addresses.push(address)
    this.documents.push(seen)
  }

  private note(address: Address.Address, seen: Document | undefined | typeof CHILDREN, own: Own): void {
    const count = seen === CHILDREN ? own.keys.length : own.writesTo(address.key).length
    if (count > 0) (this.after ??= new Map()).set(this.addresses.length, count)
  }

  get length(): number {
    return this.addresses.length
  }

  depth(i: number): Depth {
    return this.documents[i] === CHILDREN ? "children" : "deep"
  }

  /** Whether a read showed the run a place that an earlier run changed, by itself. */
  shows(i: number, { address, isListed, path }: Changed, own: Own | undefined): boolean {
    const read = this.addresses[i]!
    if (this.documents[i] === CHILDREN) {
      return isListed && read.scope === address.scope && Address.parent(address.id) === read.id && !this.isOwnName(i, address.key, own)
    }
    if (read.key !== address.key || !Address.overlaps(read.path, path)) return false
    return !this.isOwn(i, path.length > read.path.length ? path : read.path, own)
  }

  /** The sources of a read; none where the run had written there itself. */
  origins(i: number, { lineage, own, run }: Reader): Origins | undefined {
    if (lineage === undefined) return undefined
    const read = this.addresses[i]!
    if (this.documents[i] !== CHILDREN && this.isOwn(i, read.path, own)) return undefined
    return lineage.origins(read, this.depth(i), run)
  }

  /**
   * Whether all of a place was the run's own when it read it. An increment or an append builds on what was there. Items that it moved
   * meanwhile need no look: the move itself contradicts each earlier write in that array.
   */
  private isOwn(i: number, path: Address.Path, own: Own | undefined): boolean {
    const count = this.after?.get(i) ?? 0
    if (count === 0) return false
    const writes = own!.writesTo(this.addresses[i]!.key)
    for (let n = 0; n < count; n++) {
      const { address, kind } = writes[n]!
      if (kind === "set" && address.path.length <= path.length && Address.overlaps(address.path, path)) return true
    }
    return false
  }

  /** Whether the run had written a document when it listed the names among which that is. */
  private isOwnName(i: number, key: string, own: Own | undefined): boolean {
    const count = this.after?.get(i) ?? 0
    const place = count === 0 ? -1 : own!.keys.indexOf(key)
    return place >= 0 && place < count
  }
}
