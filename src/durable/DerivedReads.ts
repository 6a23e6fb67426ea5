/**
 * Earlier reads of derived cells: each covers the sources of the cell.
 *
 * The sources are those of the trigger index when the segment ends. They are looked up only for a segment that writes, and
 * only for places that nodes derive. A replay has no trigger index, so the journal tells it what came of the look.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Changed, Lineage, Place } from "../stage/ReadLog.ts"
import type * as Write from "../stage/Write.ts"
import * as Earlier from "./EarlierRead.ts"
import type { Covered, EarlierRead } from "./EarlierRead.ts"

/** An earlier read that a fresh one replaced, and the number of writes that the segment had made by then. */
interface Replaced {
  readonly read: EarlierRead
  readonly writes: number
}

/** A look of a segment. */
interface Looking {
  readonly lineage: Lineage
  readonly run: number
}

/** The places that count as read, a write at risk, and a stale one. */
interface Found {
  readonly derived: ReadonlyArray<Place>
  readonly risk?: Covered | undefined
  readonly stale?: Covered | undefined
}

/**
 * The derived places among the reads of one run.
 *
 * @category models
 * @since 0.1.0
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
  /** The newest earlier segment that wrote to a place, by the text of its address; and the places of the segment in progress. */
  private readonly wrote = new Map<string, number>()
  private writing: { readonly segment: number; readonly places: Set<string> } = { segment: -1, places: new Set() }

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

  /** Notes a write of a segment. */
  noteWrite(at: string, segment: number): void {
    if (this.writing.segment !== segment) {
      for (const earlier of this.writing.places) this.wrote.set(earlier, this.writing.segment)
      this.writing = { segment, places: new Set() }
    }
    this.writing.places.add(at)
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
    const noticed = new Set(lineage.noticed(telling, run))
    const derived: Array<Place> = []
    let risk: Covered | undefined
    for (const place of places) {
      for (const { read, writes: count } of this.earlier(place, segment, writes.length)) {
        const own = { address: read.address, depth: Earlier.depthOf(read) }
        const before = noticed.size === 0 ? [] : changes.slice(0, count).filter((changed) => noticed.has(changed))
        if (!lineage.covers(own, before, run) || this.isChangedByRun(read, own, { lineage, run })) continue
        const write = writes[changes.findIndex((changed) => noticed.has(changed))] ?? first
        risk ??= { read, write }
        // This read brings the cell up to date.
        const document = draft.stage.visible(read.address.key)
        const list = () => draft.stage.children(read.address.scope, read.address.id)
        if (Earlier.differs(read, document, list)) return { derived, risk, stale: { read, write } }
        derived.push(own)
      }
    }
    return { derived, risk }
  }

  /**
   * Whether the run itself wrote a source of a cell after it read the cell, in an earlier segment. The cell differs by that,
   * so the read tells nothing of other writers any more.
   */
  private isChangedByRun(read: EarlierRead, place: Place, { lineage, run }: Looking): boolean {
    const own: Array<Changed> = []
    for (const [at, wrote] of this.wrote) {
      if (wrote < read.segment) continue
      const address = Address.parse(at)
      own.push({ address, path: address.path, isListed: true })
    }
    const noticed = own.length === 0 ? own : lineage.noticed(own, run)
    return noticed.length > 0 && lineage.covers(place, noticed, run)
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

/** The change of a document by a segment. */
const changeBy = ({ address, array }: Write.Write, { own, stage }: Draft): Changed => {
  const isListed = (stage.visible(address.key) === undefined) !== (own?.get(address.key) === undefined)
  return { address, path: array ?? address.path, isListed }
}

/** The result that a journal tells. The message of the failure is not compared. */
const toldBy = (recorded: "stale" | "lost" | "current", write: Write.Write): Found => {
  const read: EarlierRead = { kind: "value", address: write.address, value: undefined, segment: 0, writes: 0 }
  if (recorded === "stale") return { derived: [], stale: { read, write } }
  return recorded === "lost" ? { derived: [{ address: write.address, depth: "deep" }] } : nothing
}
