/**
 * The reads of a durable run that its later writes depend on.
 *
 * A read of an earlier segment that covers a written address counts as a read of the present segment, unless that one
 * has read the place again before the write. A write that does not commute is refused if another writer changed the
 * place since. If a run of the same beat changes it, the segment loses the merge. Comparison is by value.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Draft } from "../stage/Draft.ts"
import type { EarlierReads, Place } from "../stage/write/ReadLog.ts"
import * as Semantics from "../stage/Semantics.ts"
import type * as Write from "../stage/write/Write.ts"
import { DerivedReads } from "./DerivedReads.ts"
import * as Earlier from "./EarlierRead.ts"
import type { CoveredRead, EarlierRead } from "./EarlierRead.ts"
import { RunStale } from "./RunError.ts"
import type { LeftValue } from "./Step.ts"
import type { OwnWrite } from "./WriteCall.ts"

/** A write without a fresh read of a value that an earlier segment read. It fails once another writer changes the value. */
export interface Risk {
  /** The written address, and the one that was read. */
  readonly at: string
  readonly read: string
  /** The number of the segment that read it. */
  readonly segment: number
}

/**
 * The newest reads of one run, by document and address.
 */
export class Reads implements EarlierReads {
  /** Called with each write at risk, in development. */
  risk: ((risk: Risk) => void) | undefined
  derived: ReadonlyArray<Place> = []
  private readonly known = new Map<string, Map<string, EarlierRead>>()
  /** The lists of names, by the keys of their cells. */
  private readonly lists = new Map<string, EarlierRead>()
  private readonly sources = new DerivedReads(this.known, this.lists)
  /** The writes of the live segment that earlier reads cover, by document, and the writes that were looked at. */
  private covered = new Map<string, Array<CoveredRead>>()
  private checked = new Set<string>()

  /** Begins a live segment. */
  begin(draft: Draft): void {
    this.covered = new Map()
    this.checked = new Set()
    this.derived = []
    this.sources.begin()
    if (isWhole(draft)) draft.earlier = this
  }

  /** Notes a read of a segment. */
  add(read: EarlierRead): void {
    const { address: { key, text }, kind } = read
    if (kind === "names") {
      this.sources.met(read, this.lists.get(key))
      this.lists.set(key, read)
      return
    }
    const name = kind === "keys" ? `${KEYS}${text}` : text
    const here = this.known.get(key)
    this.sources.met(read, here?.get(name))
    if (here === undefined) this.known.set(key, new Map([[name, read]]))
    else here.set(name, read)
  }

  /** Notes the writes of a segment from number `first` on. */
  wrote(writes: ReadonlyArray<OwnWrite>, segment: number, first = 0): void {
    this.sources.wrote(writes, segment, first)
  }

  /** Checks the writes of a segment from number `first` on, against the state below the draft. */
  check(draft: Draft, first: number, segment: number): void {
    for (let i = first; i < draft.writes.length; i++) {
      const write = draft.writes[i]
      if (write?.kind === "set" || (draft.serializable && isWhole(draft))) this.checkWrite(write, draft, segment)
    }
  }

  private checkWrite(write: Write.Write | undefined, draft: Draft, segment: number): void {
    if (write === undefined) return
    const old = this.earlier(write, segment, isWhole(draft))
    if (old.length === 0) return
    const { address } = write
    const document = draft.stage.visible(address.key)
    const stale = old.find((read) => Earlier.isChanged(read, write, document))
    const [first] = old
    if (first !== undefined) this.risk?.(riskOf({ read: first, write }))
    if (stale !== undefined) throw staleAt({ read: stale, write })
    const covered = old.map((read) => ({ read, write }))
    const known = this.covered.get(address.key)
    if (known === undefined) this.covered.set(address.key, covered)
    else known.push(...covered)
  }

  /** The reads of earlier segments that cover a write, unless the same write was looked at before. */
  private earlier(write: Write.Write, segment: number, isWhole: boolean): ReadonlyArray<EarlierRead> {
    const { address } = write
    const here = this.known.get(address.key)
    const list = isWhole && this.lists.size > 0 ? this.lists.get(folderOf(address)) : undefined
    if (here === undefined && list === undefined) return none
    const name = `${write.kind === "set" && write.document === undefined ? "-" : "+"}${address.text}`
    if (this.checked.has(name)) return none
    this.checked.add(name)
    const near = here === undefined ? [] : [...here.values()].filter((read) => Address.overlaps(read.address.path, address.path))
    const fresh = near.filter((read) => read.segment === segment && read.kind === "value")
    const isOld = (read: EarlierRead): boolean => read.segment !== segment && (isWhole || read.kind === "value") &&
      !fresh.some((other) => Earlier.covers(other.address, read.address) || Earlier.covers(other.address, address))
    const old = near.filter(isOld)
    return list === undefined || list.segment === segment ? old : [...old, list]
  }

  /**
   * The body has ended the segment: checks the earlier reads of derived cells.
   *
   * @throws RunStale
   */
  conclude(draft: Draft, segment: number): void {
    if (!isWhole(draft) || draft.writes.length === 0) return
    const { derived, risk, stale } = this.sources.look(draft, segment)
    if (risk !== undefined) this.risk?.(riskOf(risk))
    if (stale === undefined) this.derived = derived
    else throw staleAt(stale)
  }

  differs(key: string, document: Document.Document | undefined): boolean {
    return this.covered.get(key)?.some(({ read, write }) => Earlier.isChanged(read, write, document)) === true
  }

  /** The values at known addresses that a segment wrote, as the segment leaves them. */
  leave(draft: Draft, segment: number): ReadonlyArray<LeftValue> {
    const left: Array<LeftValue> = []
    const leave = (read: EarlierRead, value: EarlierRead["value"]): void => {
      this.add({ ...read, value, segment, writes: 0 })
      const { address: { text }, kind } = read
      if (kind !== "value") left.push([text, value ?? null, kind])
      else left.push(value === undefined ? [text] : [text, value])
    }
    if (!isWhole(draft)) this.leaveVisible(draft, leave)
    else this.leaveKnown(draft, segment, leave)
    return left
  }

  /** By the rule of semantics 1, a run knows the whole of a place afterwards in which it wrote a part. */
  private leaveVisible(draft: Draft, leave: (read: EarlierRead, value: EarlierRead["value"]) => void): void {
    for (const key of draft.own?.keys ?? []) {
      const writes = draft.own?.writesTo(key) ?? []
      for (const read of this.known.get(key)?.values() ?? none) {
        const { address: { path }, kind } = read
        if (kind !== "value" || !writes.some((write) => Address.overlaps(write.address.path, path))) continue
        leave(read, Document.read(draft.visible(key), path))
      }
    }
  }

  private leaveKnown(draft: Draft, segment: number, leave: (read: EarlierRead, value: EarlierRead["value"]) => void): void {
    const made = draft.writes.map((write, at) => ({ write, at }))
    for (const [key, here] of Map.groupBy(made, ({ write }) => write.address.key)) {
      for (const read of this.known.get(key)?.values() ?? none) {
        const mine = writtenAfter(read, segment, here).filter(({ address: { path } }) => Address.overlaps(path, read.address.path))
        if (mine.length > 0) leave(read, Earlier.after(read, mine))
      }
    }
    if (this.lists.size === 0) return
    for (const [key, here] of Map.groupBy(made, ({ write }) => folderOf(write.address))) {
      const list = this.lists.get(key)
      const mine = list === undefined ? [] : writtenAfter(list, segment, here)
      if (list !== undefined && mine.length > 0) leave(list, Earlier.after(list, mine))
    }
  }

  /** Notes the values that a recorded segment left. */
  restore(left: ReadonlyArray<LeftValue>, segment: number): void {
    for (const [text, value, kind = "value"] of left) {
      this.add({ kind, address: Address.parse(text), value: kind !== "value" && value === null ? undefined : value, segment, writes: 0 })
    }
  }
}

const none: ReadonlyArray<EarlierRead> = []

/** Precedes the address of a read of keys alone. */
const KEYS = "keys "

/** Whether a segment follows the present rule. */
export const isWhole = ({ moment }: Draft): boolean => Semantics.follows(moment, "earlierReads")

const folderOf = ({ id, scope }: Address.Address): string => Address.make(Address.parent(id), { scope }).key

/** A write, and the number of writes of its segment before it. */
interface Made {
  readonly write: Write.Write
  readonly at: number
}

/** The writes of a segment that came after a read. */
const writtenAfter = (read: EarlierRead, segment: number, made: ReadonlyArray<Made>): ReadonlyArray<Write.Write> =>
  made.filter(({ at }) => read.segment !== segment || at >= read.writes).map(({ write }) => write)

const riskOf = ({ read: { address, segment }, write }: CoveredRead): Risk => ({ at: write.address.text, read: address.text, segment })

const staleAt = ({ read: { address, segment }, write }: CoveredRead): RunStale =>
  new RunStale({ address: write.address.text, read: address.text, segment })
