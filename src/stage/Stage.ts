/**
 * The stage of a beat: committed state, and the changes of the beat.
 *
 * Runs read the state of the last beat, with the changes of this beat's capture on top [S0 §Design Invariants]. Their
 * writes are merged one run after another, in agenda order. The first to commit wins. A run is dropped whole if it
 * contradicts an earlier one, or agrees with it after reading the place that it changed.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import { adjust } from "./write/Children.ts"
import type { Draft } from "./Draft.ts"
import type { CommittedState, View } from "./BeatClock.ts"
import * as Envelope from "./Envelope.ts"
import type { Interest } from "./write/Interest.ts"
import { WriteSet } from "./write/WriteSet.ts"
import { type EarlierChange, type Depth, derives, type Lineage, type Origins, type Place, type Reader } from "./write/ReadLog.ts"
import * as Write from "./write/Write.ts"
import { lengthOf } from "./write/Write.ts"

/** The writer of a document in this beat: a run number, or one of these for the capture and the commit. */
export const CAPTURE = -1
export const COMMIT = -2

/** The maximum total size of the changes of one beat, in characters and bytes. A single run always fits. */
const MAX_SIZE = 64 * 1_048_576

/** The maximum number of pairs of writes to one document that are compared for one run. */
const MAX_PAIRS = 100_000

/** The changes of this beat to one document. */
export interface StagedDocument {
  readonly address: Address.Address
  readonly before: Document | undefined
  after: Document | undefined
  readonly writers: Array<number>
  /** The writes of runs, which later runs must not contradict. */
  writes: Array<Write.Write>
}

/** The changes of a run to one document, before they are merged. */
interface Merged {
  readonly staged: StagedDocument
  readonly after: Document | undefined
  /** The run's writes to this document. */
  readonly here: ReadonlyArray<Write.Write>
  /** The number of characters that it adds to the beat. */
  readonly size: number
}

/** The reason why a run was dropped: an earlier run of the beat wrote the document, or the beat is full. */
export interface Conflict {
  /** The contested document; `undefined` if the beat was full. */
  readonly key: string | undefined
  /** Whether the run read a value derived from the document. It is journaled, because a replay has no graph. */
  readonly isDerived?: boolean
}

/**
 * One beat's view of a space, and its merged writes.
 */
export class Stage implements View {
  readonly committed: CommittedState
  readonly documents = new Map<string, StagedDocument>()
  /** The content of merged runs by digest, visible after all runs. */
  readonly content = new Map<string, Uint8Array>()
  /** Called before a run reads, to update derived cells there; `undefined` without nodes. */
  derive: ((address: Address.Address, depth: Depth) => void) | undefined
  /** The outputs of isolated runs of nodes, for the current run only. */
  isolated: WriteSet | undefined
  /** The sources of derived cells; `undefined` without nodes. */
  lineage: Lineage | undefined
  /** The documents that the capture wrote; usually `undefined`, because it wrote none. */
  private captured: WriteSet | undefined
  private size = 0
  /** The bits of the ledgers with documents that the beat wrote. */
  touched = 0
  private readonly interest: Interest | undefined

  constructor(committed: CommittedState, interest?: Interest) {
    this.committed = committed
    this.interest = interest
  }

  /** Connects the scheduler to the beat. */
  join(derive: Stage["derive"], lineage: Lineage): void {
    this.derive = derive
    this.lineage = lineage
  }

  /** Returns a document as runs of this beat see it. */
  visible(key: string): Document | undefined {
    if (this.derive !== undefined) this.derive(Address.ofKey(key), "deep")
    if (this.isolated !== undefined && this.isolated.has(key)) return this.isolated.get(key)
    return this.captured !== undefined && this.captured.has(key) ? this.captured.get(key) : this.committed.read(key)
  }

  /** Returns the names below a cell as runs of this beat see them. */
  children(scope: string, id: string): ReadonlyArray<string> {
    if (this.derive !== undefined) this.derive(Address.make(id, { scope }), "children")
    let names = this.committed.children(scope, id)
    if (this.captured !== undefined) names = adjust(names, { scope, id, own: this.captured })
    return this.isolated === undefined ? names : adjust(names, { scope, id, own: this.isolated })
  }

  /** Merges the capture transaction: before all runs, visible to all, without conflicts. */
  capture(draft: Draft): void {
    const { own } = draft
    own?.keys.forEach((key, i) => this.put(Address.ofValidKey(key), own.documents[i], CAPTURE))
  }

  /** Merges a write of the capture or the commit, such as a binding or a diagnostic. */
  put(address: Address.Address, after: Document | undefined, writer: number): void {
    if (writer === CAPTURE) (this.captured ??= new WriteSet()).set(address.key, after)
    const staged = this.documents.get(address.key)
    if (staged === undefined) {
      if (this.interest !== undefined) this.touched |= this.interest.of(address.key)
      this.documents.set(address.key, { address, before: this.committed.read(address.key), after, writers: [writer], writes: [] })
    } else {
      staged.after = after
      staged.writers.push(writer)
    }
  }

  /** Puts the first document at an address. The caller knows that none is there, so the store is not read. */
  create(address: Address.Address, after: Document, writer: number): void {
    if (this.documents.has(address.key)) return this.put(address, after, writer)
    if (writer === CAPTURE) (this.captured ??= new WriteSet()).set(address.key, after)
    if (this.interest !== undefined) this.touched |= this.interest.of(address.key)
    this.documents.set(address.key, { address, before: undefined, after, writers: [writer], writes: [] })
  }

  /** Notes in the capture that there is no document at an address. The caller knows it, so that runs do not read the store. */
  absent({ key }: Address.Address): void {
    (this.captured ??= new WriteSet()).set(key, undefined)
  }

  /** Stages a document that was derived before a run reads it: visible to that run and later ones, like the capture. */
  gate(address: Address.Address, after: Document | undefined, writer: number): void {
    (this.captured ??= new WriteSet()).set(address.key, after)
    this.put(address, after, writer)
  }

  /** Returns the names below a cell, as merged so far. */
  merged(scope: string, id: string): ReadonlyArray<string> {
    const names = this.committed.children(scope, id)
    if (this.documents.size === 0) return names
    const set = new Set(names)
    for (const { address, after } of this.documents.values()) {
      if (address.scope !== scope || Address.parent(address.id) !== id) continue
      if (after === undefined) set.delete(Address.name(address.id))
      else set.add(Address.name(address.id))
    }
    return [...set].sort()
  }

  /** Adds to a number in a document, on top of the runs merged so far. */
  add(address: Address.Address, by: number): void {
    const staged = this.documents.get(address.key)!
    const write: Write.Write = { kind: "increment", address, by }
    staged.after = Write.apply(staged.after, write)
    staged.writes.push(write)
  }

  /** Returns content, as merged so far. */
  blob(hash: string): Uint8Array | undefined {
    return this.content.get(hash) ?? this.committed.blob(hash)
  }

  /** Returns a document, as merged so far. */
  newest(key: string): Document | undefined {
    const staged = this.documents.get(key)
    return staged === undefined ? this.committed.read(key) : staged.after
  }

  /** Reserves room in the beat for `size` characters. Returns false, without reserving, if there is not enough. */
  take(size: number): boolean {
    if (this.size + size > MAX_SIZE) return false
    this.size += size
    return true
  }

  /**
   * Merges a run's writes, or returns the conflict that it lost. A run that loses or is refused changes no state.
   *
   * @throws OutsideEnvelope, InvalidValue
   */
  merge(draft: Draft, run: number): Conflict | undefined {
    const conflict = this.conflict(draft, run)
    if (conflict !== undefined) return conflict
    const { envelope, own, writes } = draft
    let size = draft.launched + draft.kept
    if (own === undefined) return this.take(size) ? undefined : { key: undefined }
    for (const write of writes) Envelope.check(envelope, write.address)
    // Writes that do not fit on top of another run's are refused before any write is merged.
    const merged = own.keys.map((key, i) => this.onTop(key, own.documents[i], own.writesAt(i)))
    for (const change of merged) size += change.size
    if (!this.take(size)) return { key: undefined }
    for (const { after, here, staged } of merged) {
      this.documents.set(staged.address.key, staged)
      staged.after = after
      staged.writers.push(run)
      for (const write of here) staged.writes.push(write)
    }
    return undefined
  }

  /** Applies a run's writes to a document: to the document that the run saw, or on top of earlier runs. */
  private onTop(key: string, seen: Document | undefined, here: ReadonlyArray<Write.Write>): Merged {
    const staged = this.documents.get(key)
    if (staged === undefined) {
      if (this.interest !== undefined) this.touched |= this.interest.of(key)
      const before = this.committed.read(key)
      const created = { address: Address.ofKey(key), before, after: before, writers: [], writes: [] }
      return { staged: created, after: seen, here, size: key.length + lengthOf(before) + lengthOf(seen) }
    }
    const after = staged.writes.length === 0 ? seen : here.reduce(Write.apply, staged.after)
    return { staged, after, here, size: lengthOf(after) - lengthOf(staged.after) }
  }

  private conflict(draft: Draft, run: number): Conflict | undefined {
    const { earlier, own } = draft
    let place = 0
    for (const key of own?.keys ?? []) {
      const staged = this.documents.get(key)
      const here = own?.writesAt(place++)
      if (staged === undefined || here === undefined) continue
      if (earlier?.differs(key, staged.after) === true) return { key }
      const meeting = meet(staged.writes, here)
      if (meeting === "contrary") return { key }
      const lost = meeting === "equal" ? this.informed(draft, { staged, here, run }) : undefined
      if (lost !== undefined) return lost
    }
    return draft.serializable ? this.overtaken(draft, run) : undefined
  }

  /** Tests for a lost update: equal writes conflict if the later run had read the place of the earlier one. */
  private informed(
    draft: Draft,
    { here, run, staged }: { readonly staged: StagedDocument; readonly here: ReadonlyArray<Write.Write>; readonly run: number }
  ): Conflict | undefined {
    const { earlier, own, reads } = draft
    if (reads === undefined && earlier === undefined) return undefined
    const { address, writes } = staged
    const conflict = { key: address.key }
    const count = reads?.length ?? 0
    if (count * here.length > MAX_PAIRS) return conflict
    const isListed = this.isListed(staged)
    const changes = here
      .filter((write) => writes.some((before) => Write.relationOf(before, write) === "equal"))
      .map((write): EarlierChange => ({ address, path: write.address.path, isListed }))
    for (let i = 0; i < count; i++) if (changes.some((changed) => reads!.shows(i, changed, own))) return conflict
    return derived(draft, { own, run, lineage: this.lineage }, () => changes)
  }

  /** Returns the conflict of a serializable run: the first document among its reads, or their sources, that an earlier run changed. */
  private overtaken(draft: Draft, run: number): Conflict | undefined {
    const { own, reads } = draft
    for (let i = 0; reads !== undefined && i < reads.length; i++) {
      const { key } = reads.address(i)
      const places = reads.depth(i) === "children" ? this.documents.values() : [this.documents.get(key)]
      for (const staged of places) {
        if (staged?.writes.some((write) => reads.shows(i, this.changed(staged, write), own)) === true) return { key: staged.address.key }
      }
    }
    const changes = () => [...this.documents.values()].flatMap((staged) => staged.writes.map((write) => this.changed(staged, write)))
    return derived(draft, { own, run, lineage: this.lineage }, changes)
  }

  private changed(staged: StagedDocument, write: Write.Write): EarlierChange {
    return { address: staged.address, path: Write.reach(write), isListed: this.isListed(staged) }
  }

  /** Tests whether runs created or deleted a document, relative to the names that other runs saw. */
  private isListed({ address: { key }, after, before, writes }: StagedDocument): boolean {
    const seen = this.captured?.has(key) === true ? this.captured.get(key) : before
    return writes.length > 0 && (seen === undefined) !== (after === undefined)
  }
}

/** Returns the first change among the sources of a run's reads. `changes` is called only if some read is derived. */
const derived = ({ earlier, reads }: Draft, reader: Reader, changes: () => ReadonlyArray<EarlierChange>): Conflict | undefined => {
  const { lineage, run } = reader
  if (lineage === undefined) return undefined
  let made: ReadonlyArray<EarlierChange> | undefined
  const conflict = (origins: Origins | undefined): Conflict | undefined => {
    if (origins === undefined) return undefined
    made ??= changes()
    const found = made.find((changed) => derives(origins, changed))
    return found === undefined ? undefined : { key: found.address.key, isDerived: true }
  }
  for (let i = 0; reads !== undefined && i < reads.length; i++) {
    const lost = conflict(reads.origins(i, reader))
    if (lost !== undefined) return lost
  }
  for (const { address, depth } of earlier?.derived ?? none) {
    const lost = conflict(lineage.origins(address, depth, run))
    if (lost !== undefined) return lost
  }
  return undefined
}

const none: ReadonlyArray<Place> = []

/** Too many pairs count as a conflict. The loser runs first in a later beat, without writes to compare. */
const meet = (earlier: ReadonlyArray<Write.Write>, later: ReadonlyArray<Write.Write>): Write.WriteRelation => {
  if (earlier.length * later.length > MAX_PAIRS) return "contrary"
  let all: Write.WriteRelation = "apart"
  for (const write of later) {
    for (const before of earlier) {
      const meeting = Write.relationOf(before, write)
      if (meeting === "contrary") return meeting
      if (meeting === "equal") all = meeting
    }
  }
  return all
}
