/**
 * The stage of a beat: committed state, and what the beat makes of it.
 *
 * Runs read the state that the last beat left, with what this beat captured laid
 * over it. Their writes are merged one run after another, in agenda order; the
 * first to commit wins, and a run that contradicts it, or that agrees with it
 * and had read what it changed, is dropped whole.
 * (Architecture, section 3; seed 000, "Staging".)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import { adjusted } from "./Children.ts"
import type { Draft } from "./Draft.ts"
import type { Committed, View } from "./Moment.ts"
import * as Envelope from "./Envelope.ts"
import { Own } from "./Own.ts"
import { type Changed, type Depth, derives, type Lineage, type Reader, type ReadLog } from "./ReadLog.ts"
import * as Write from "./Write.ts"
import { lengthOf } from "./Write.ts"

/** Who wrote a document in this beat: the numbers of runs, or the capture and the commit themselves. */
export const CAPTURE = -1
export const COMMIT = -2

/** Most characters and bytes that the runs of one beat make of it together. One run alone always fits. */
const MAX_SIZE = 64 * 1_048_576

/** Most pairs of writes to one document that are compared for one run. */
const MAX_PAIRS = 100_000

/** What this beat makes of one document. */
export interface Staged {
  readonly address: Address.Address
  readonly before: Document | undefined
  after: Document | undefined
  readonly writers: Array<number>
  /** The writes of runs, which later runs must not contradict. */
  writes: Array<Write.Write>
}

/** What a run makes of one document, before anything is merged. */
interface Merged {
  readonly staged: Staged
  readonly after: Document | undefined
  /** The run's writes to this document. */
  readonly here: ReadonlyArray<Write.Write>
  /** How many characters more the beat has with it. */
  readonly size: number
}

/** Why a run was dropped: another run of the beat wrote here first, or the beat is full. */
export interface Conflict {
  /** The document that was lost; `undefined` where only room was wanting. */
  readonly key: string | undefined
  /** Whether what it read derives from the document. A replay, which has no graph, takes that as it was. */
  readonly isDerived?: boolean
}

/**
 * One beat's view of a space, and its merged writes.
 *
 * @category models
 * @since 0.1.0
 */
export class Stage implements View {
  readonly committed: Committed
  readonly documents = new Map<string, Staged>()
  /** The content of the runs that were merged, by its digest: seen by what runs after them all. */
  readonly content = new Map<string, Uint8Array>()
  /** Told where a run is about to read, so that what is derived there is up to date; nobody is, where nothing is derived. */
  derive: ((address: Address.Address, depth: Depth) => void) | undefined
  /** What nodes made aside for the run under way, which it sees alone. */
  aside: Own | undefined
  /** Tells what derived cells derive from; none, where nothing is derived. */
  lineage: Lineage | undefined
  /** The documents that the capture wrote; `undefined` while it wrote none, which is the usual case. */
  private captured: Own | undefined
  private size = 0

  constructor(committed: Committed) {
    this.committed = committed
  }

  /** Has nodes take part in the beat. */
  join(derive: Stage["derive"], lineage: Lineage): void {
    this.derive = derive
    this.lineage = lineage
  }

  /** What runs of this beat see of a document. */
  visible(key: string): Document | undefined {
    if (this.derive !== undefined) this.derive(Address.ofKey(key), "deep")
    if (this.aside !== undefined && this.aside.has(key)) return this.aside.get(key)
    return this.captured !== undefined && this.captured.has(key) ? this.captured.get(key) : this.committed.read(key)
  }

  /** The names below a cell that runs of this beat see. */
  children(scope: string, id: string): ReadonlyArray<string> {
    if (this.derive !== undefined) this.derive(Address.make(id, { scope }), "children")
    let names = this.committed.children(scope, id)
    if (this.captured !== undefined) names = adjusted(names, { scope, id, own: this.captured })
    return this.aside === undefined ? names : adjusted(names, { scope, id, own: this.aside })
  }

  /** Merges the capture transaction: before all runs, seen by all, in conflict with none. */
  capture(draft: Draft): void {
    const { own } = draft
    if (own !== undefined) for (let i = 0; i < own.keys.length; i++) this.put(Address.ofKey(own.keys[i]!), own.documents[i], CAPTURE)
  }

  /** Merges what the capture or the commit itself writes, such as bindings and diagnostics. */
  put(address: Address.Address, after: Document | undefined, writer: number): void {
    if (writer === CAPTURE) (this.captured ??= new Own()).set(address.key, after)
    const staged = this.documents.get(address.key)
    if (staged === undefined) {
      this.documents.set(address.key, { address, before: this.committed.read(address.key), after, writers: [writer], writes: [] })
    } else {
      staged.after = after
      staged.writers.push(writer)
    }
  }

  /** What was derived before a run reads it: seen by that run and the later ones, like what was captured. */
  gate(address: Address.Address, after: Document | undefined, writer: number): void {
    (this.captured ??= new Own()).set(address.key, after)
    this.put(address, after, writer)
  }

  /** The names below a cell, as the beat has left them so far. */
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

  /** Adds to a number of a document as the runs so far have made it, after one of them was merged. */
  add(address: Address.Address, by: number): void {
    const staged = this.documents.get(address.key)!
    const write: Write.Write = { kind: "increment", address, by }
    staged.after = Write.apply(staged.after, write)
    staged.writes.push(write)
  }

  /** Content as far as the beat has come. */
  blob(hash: string): Uint8Array | undefined {
    return this.content.get(hash) ?? this.committed.blob(hash)
  }

  /** What a document is as far as the beat has come. */
  newest(key: string): Document | undefined {
    const staged = this.documents.get(key)
    return staged === undefined ? this.committed.read(key) : staged.after
  }

  /** Takes room in the beat for so many characters; not where that is more than is left. */
  take(size: number): boolean {
    if (this.size + size > MAX_SIZE) return false
    this.size += size
    return true
  }

  /**
   * Merges a run's writes, or says on which document it lost. A run that loses, or is refused, leaves nothing.
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
    // Writes that do not fit on top of another run's are found before anything is merged.
    const merged = own.keys.map((key, i) => this.onTop(key, own.documents[i], own.writes[i]!))
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

  /** What a document becomes with a run's writes: what the run saw, or on top of those of earlier runs. */
  private onTop(key: string, seen: Document | undefined, here: ReadonlyArray<Write.Write>): Merged {
    const staged = this.documents.get(key)
    if (staged === undefined) {
      const before = this.committed.read(key)
      const created = { address: Address.ofKey(key), before, after: before, writers: [], writes: [] }
      return { staged: created, after: seen, here, size: key.length + lengthOf(before) + lengthOf(seen) }
    }
    const after = staged.writes.length === 0 ? seen : here.reduce(Write.apply, staged.after)
    return { staged, after, here, size: lengthOf(after) - lengthOf(staged.after) }
  }

  private conflict(draft: Draft, run: number): Conflict | undefined {
    const { own } = draft
    for (let i = 0; own !== undefined && i < own.keys.length; i++) {
      const key = own.keys[i]!
      const staged = this.documents.get(key)
      if (staged === undefined) continue
      const here = own.writes[i]!
      const meeting = meet(staged.writes, here)
      if (meeting === "contrary") return { key }
      const lost = meeting === "equal" ? this.informed(draft, { staged, here, run }) : undefined
      if (lost !== undefined) return lost
    }
    return draft.serializable ? this.overtaken(draft, run) : undefined
  }

  /** Writes that agree are a lost update all the same where the later run had read what the earlier one changed. */
  private informed(draft: Draft, { here, run, staged }: { readonly staged: Staged; readonly here: ReadonlyArray<Write.Write>; readonly run: number }): Conflict | undefined {
    const { own, reads } = draft
    if (reads === undefined) return undefined
    const { address, writes } = staged
    const conflict = { key: address.key }
    if (reads.length * here.length > MAX_PAIRS) return conflict
    const isListed = this.isListed(staged)
    const changes = here
      .filter((write) => writes.some((before) => Write.meeting(before, write) === "equal"))
      .map((write): Changed => ({ address, path: write.address.path, isListed }))
    for (let i = 0; i < reads.length; i++) if (changes.some((changed) => reads.shows(i, changed, own))) return conflict
    return derived(reads, { own, run, lineage: this.lineage }, () => changes)
  }

  /** For a serializable run: the first document it read that an earlier run of the beat changed, or from which what it read derives. */
  private overtaken({ own, reads }: Draft, run: number): Conflict | undefined {
    if (reads === undefined) return undefined
    for (let i = 0; i < reads.length; i++) {
      const { key } = reads.addresses[i]!
      const places = reads.depth(i) === "children" ? this.documents.values() : [this.documents.get(key)]
      for (const staged of places) {
        if (staged?.writes.some((write) => reads.shows(i, this.changed(staged, write), own)) === true) return { key: staged.address.key }
      }
    }
    const changes = () => [...this.documents.values()].flatMap((staged) => staged.writes.map((write) => this.changed(staged, write)))
    return derived(reads, { own, run, lineage: this.lineage }, changes)
  }

  private changed(staged: Staged, write: Write.Write): Changed {
    return { address: staged.address, path: Write.reach(write), isListed: this.isListed(staged) }
  }

  /** Whether runs made a document come to be or go, as other runs saw the names beside it. */
  private isListed({ address: { key }, after, before, writes }: Staged): boolean {
    const seen = this.captured?.has(key) === true ? this.captured.get(key) : before
    return writes.length > 0 && (seen === undefined) !== (after === undefined)
  }
}

/** The first change from which something derives that a run read. Changes are asked for where anything is derived at all. */
const derived = (reads: ReadLog, reader: Reader, changes: () => ReadonlyArray<Changed>): Conflict | undefined => {
  if (reader.lineage === undefined) return undefined
  let made: ReadonlyArray<Changed> | undefined
  for (let i = 0; i < reads.length; i++) {
    const origins = reads.origins(i, reader)
    if (origins === undefined) continue
    made ??= changes()
    const found = made.find((changed) => derives(origins, changed))
    if (found !== undefined) return { key: found.address.key, isDerived: true }
  }
  return undefined
}

/** Too many writes to compare are taken for a conflict: whoever loses it goes first in a later beat, and has none to be compared with. */
const meet = (earlier: ReadonlyArray<Write.Write>, later: ReadonlyArray<Write.Write>): Write.Meeting => {
  if (earlier.length * later.length > MAX_PAIRS) return "contrary"
  let all: Write.Meeting = "apart"
  for (const write of later) {
    for (const before of earlier) {
      const meeting = Write.meeting(before, write)
      if (meeting === "contrary") return meeting
      if (meeting === "equal") all = meeting
    }
  }
  return all
}
