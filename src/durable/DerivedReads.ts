/**
 * Earlier reads of derived cells: each covers the sources of the cell.
 *
 * The sources are those of the trigger index when the segment ends. They are looked up only for a segment that writes, and
 * only for places that nodes derive. A replay has no trigger index, so the journal has the result of the look-up.
 *
 * A cell that differs from the read one shows that another writer changed a source, unless the run itself has written a source
 * since. Then each source that the segment writes is compared by itself: it has to be as the run left or read it. A source of
 * which the run knows nothing may hold an update of another writer, and its write is stale until the run reads again.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Draft } from "../stage/Draft.ts"
import type { EarlierChange, Lineage, Place } from "../stage/write/ReadLog.ts"
import type * as Write from "../stage/write/Write.ts"
import * as Earlier from "./EarlierRead.ts"
import type { CoveredRead, EarlierRead } from "./EarlierRead.ts"
import type { OwnWrite } from "./WriteCall.ts"

/** An earlier read that a fresh one replaced, and the number of writes that the segment had made by then. */
interface Replaced {
  readonly read: EarlierRead
  readonly writes: number
}

/** A look of a segment: its writes, with the changes that they make. */
interface Looking {
  readonly draft: Draft
  readonly lineage: Lineage
  readonly segment: number
  readonly changes: ReadonlyArray<EarlierChange>
  /** Those that do not commute with the changes of other writers. */
  readonly telling: ReadonlyArray<EarlierChange>
}

/** The places that count as read, a write at risk, and a stale one. */
interface Found {
  readonly derived: ReadonlyArray<Place>
  readonly risk?: CoveredRead | undefined
  readonly stale?: CoveredRead | undefined
}

/**
 * The derived places among the reads of one run.
 */
export class DerivedReads {
  private readonly known: ReadonlyMap<string, ReadonlyMap<string, EarlierRead>>
  private readonly lists: ReadonlyMap<string, EarlierRead>
  /** The read documents and lists; the number of them that were looked at since nodes came or went; and the derived ones. */
  private readonly places: Array<Place> = []
  private looked = 0
  private writers = -1
  private found: Array<Place> = []
  private replaced: Array<Replaced> = []
  /** The newest write of earlier segments to each place, by the text of its address, in order; and those of the segment in progress. */
  private readonly own = new Map<string, Earlier.EarlierWrite>()
  private writing: { readonly segment: number; readonly writes: Array<OwnWrite> } = { segment: -1, writes: [] }

  constructor(known: DerivedReads["known"], lists: DerivedReads["lists"]) {
    this.known = known
    this.lists = lists
  }

  /** Begins a live segment. */
  begin(): void {
    this.replaced = []
  }

  /** Notes a read that replaces the one before at the same place. */
  met(read: EarlierRead, before: EarlierRead | undefined): void {
    const { address, kind, segment, writes } = read
    if (before !== undefined) {
      if (before.segment !== segment && writes > 0) this.replaced.push({ read: before, writes })
    } else if (kind === "names") this.places.push({ address, depth: "children" })
    else if (!this.known.has(address.key)) this.places.push({ address: Address.ofKey(address.key), depth: "deep" })
  }

  /** Notes the writes of a segment from number `first` on. */
  wrote(writes: ReadonlyArray<OwnWrite>, segment: number, first: number): void {
    if (this.writing.segment !== segment) this.keep(segment)
    for (const write of first === 0 ? writes : writes.slice(first)) this.writing.writes.push(write)
  }

  /** Keeps the writes of the segment before. Those before the first read of the run concern no read. */
  private keep(next: number): void {
    const { segment, writes } = this.writing
    for (const write of this.places.length === 0 ? [] : writes) {
      this.own.delete(write.address.text)
      this.own.set(write.address.text, { segment, write })
    }
    this.writing = { segment: next, writes: [] }
  }

  /** Looks for writes to the sources of derived cells that earlier segments read. */
  look(draft: Draft, segment: number): Found {
    const { run, stage: { lineage }, writes } = draft
    const [first] = writes
    if (lineage === undefined || first === undefined) return nothing
    const recorded = lineage.recorded?.(run)
    if (recorded !== undefined) return toldBy(recorded, first)
    const places = this.derived(lineage)
    if (places.length === 0) return nothing
    const changes = writes.map((write) => changeBy(write, draft))
    // Increments and appends commute with what other writers do.
    const telling = draft.serializable ? changes : changes.filter((_, i) => writes[i]?.kind === "set")
    if (telling.length === 0) return nothing
    const looking = { changes, draft, lineage, segment, telling }
    const noticed = new Set(lineage.noticed(telling, run))
    const derived: Array<Place> = []
    let risk: CoveredRead | undefined
    for (const place of places) {
      for (const { read, writes: count } of this.earlier(place, segment, writes.length)) {
        const own = { address: read.address, depth: Earlier.depthOf(read) }
        const before = noticed.size === 0 ? [] : changes.slice(0, count).filter((changed) => noticed.has(changed))
        if (!lineage.covers(own, before, run)) continue
        const write = writes[changes.findIndex((changed) => noticed.has(changed))] ?? first
        risk ??= { read, write }
        // This read brings the cell up to date.
        const document = draft.stage.visible(read.address.key)
        const list = () => draft.stage.children(read.address.scope, read.address.id)
        const stale = Earlier.differs(read, document, list) ? this.staleBy(read, count, looking) : undefined
        if (stale !== undefined) return { derived, risk, stale: { read, write: stale } }
        derived.push(own)
      }
    }
    return { derived, risk }
  }

  /**
   * The write, among the first `count`, that may overwrite another writer's, since a cell differs from the read one; `undefined` if
   * there is none. The cell is up to date, so its sources are known.
   */
  private staleBy(read: EarlierRead, count: number, looking: Looking): Write.Write | undefined {
    const { changes, draft: { run, writes }, lineage, telling } = looking
    const place = { address: read.address, depth: Earlier.depthOf(read) }
    const before = lineage.noticed(telling, run).filter((changed) => changes.indexOf(changed) < count)
    if (!lineage.covers(place, before, run)) return undefined
    const isOwn = this.isChangedByRun(read, place, looking)
    const found = before.find((changed) => !isOwn || (lineage.covers(place, [changed], run) && !this.isKnown(changed, read, looking)))
    // A node that has never run may have any source.
    if (found === undefined) return before.length === 0 ? writes[0] : undefined
    return writes[changes.indexOf(found)]
  }

  /** Whether the run itself wrote a source of a cell after it read the cell, in an earlier segment. The cell differs by that. */
  private isChangedByRun({ segment }: EarlierRead, place: Place, { draft: { run }, lineage }: Looking): boolean {
    const own: Array<EarlierChange> = []
    for (const { segment: wrote, write: { address } } of this.own.values()) {
      if (wrote >= segment) own.push({ address, path: address.path, isListed: true })
    }
    const noticed = own.length === 0 ? own : lineage.noticed(own, run)
    return noticed.length > 0 && lineage.covers(place, noticed, run)
  }

  /** Whether the place of a change is as the run left it since it read a cell, or as it read the place itself. */
  private isKnown(changed: EarlierChange, { segment: since }: EarlierRead, { changes, draft, segment }: Looking): boolean {
    const { address } = changed
    const at = changes.indexOf(changed)
    for (const other of this.known.get(address.key)?.values() ?? none) {
      // The write itself was checked against a read of an earlier segment.
      const isBefore = other.segment < segment || other.writes <= at
      if (other.kind === "value" && isBefore && Earlier.covers(other.address, address)) return true
    }
    const wrote = [...this.own.values()].filter((own) => own.segment >= since && Earlier.meets(own, address)).at(-1)
    return wrote !== undefined && Earlier.isLeft(wrote, address, draft.stage.visible(address.key))
  }

  /** The derived places among those that the run has read. */
  private derived(lineage: Lineage): ReadonlyArray<Place> {
    if (lineage.writers !== this.writers) {
      this.writers = lineage.writers
      this.looked = 0
      this.found = []
    }
    for (const place of this.places.slice(this.looked)) if (lineage.isDerived(place)) this.found.push(place)
    this.looked = this.places.length
    return this.found
  }

  /** The reads of a place by earlier segments, and the number of writes that came before the present segment read it again. */
  private earlier({ address: { key }, depth }: Place, segment: number, writes: number): ReadonlyArray<Replaced> {
    const list = this.lists.get(key)
    const reads = depth === "children" ? list === undefined ? [] : [list] : [...this.known.get(key)?.values() ?? []]
    const replaced = this.replaced.filter(({ read }) => read.address.key === key && Earlier.depthOf(read) === depth)
    const fresh = reads.filter((read) => read.segment === segment && read.kind !== "keys")
    return [...replaced, ...reads.filter((read) => read.segment !== segment).map((read) => ({ read, writes }))].flatMap((old) => {
      const again = fresh.filter(({ address }) => Earlier.covers(address, old.read.address))
      const count = again.reduce((least, read) => Math.min(least, read.writes), old.writes)
      return count === 0 ? [] : [{ read: old.read, writes: count }]
    })
  }
}

const nothing: Found = { derived: [] }
const none: ReadonlyArray<EarlierRead> = []

/** The change of a document by a segment. */
const changeBy = ({ address, array }: Write.Write, { own, stage }: Draft): EarlierChange => {
  const isListed = (stage.visible(address.key) === undefined) !== (own?.get(address.key) === undefined)
  return { address, path: array ?? address.path, isListed }
}

/** The result in a journal. The message of the failure is not compared. */
const toldBy = (recorded: "stale" | "lost" | "current", write: Write.Write): Found => {
  const read: EarlierRead = { kind: "value", address: write.address, value: undefined, segment: 0, writes: 0 }
  if (recorded === "stale") return { derived: [], stale: { read, write } }
  return recorded === "lost" ? { derived: [{ address: write.address, depth: "deep" }] } : nothing
}
