/**
 * Catch-up: missed changes of one place, read from the journal.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import * as Change from "../../cell/Change.ts"
import * as Codec from "../../cell/Document.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { CellRecord } from "../journal/CellLine.ts"
import * as Journal from "../journal/Journal.ts"
import * as Records from "../journal/JournalRecords.ts"
import { observe } from "./Observed.ts"
import type { Observation } from "./Space.ts"

/** Most values that a subscriber may lag behind, or have missed, and still receive individually. */
export const MAX_MISSED = 1024

/** Most characters of values that wait for one subscriber. */
export const MAX_WAITING = 262_144

/** Most characters of journal text read for one returning subscriber. */
export const MAX_READ = 4 * 1_048_576

/** Beats that are read at once. */
const CHUNK = 64

/** Most results that wait for further subscribers. */
const MAX_SHARED = 8

/** The values that a subscriber missed, or the reason why they are unknown. */
type Found = ReadonlyArray<Observation> | string

/**
 * The missed values of returning subscribers. Those that return at about the same time share one read of the journal, as the
 * watchers of an object that wakes and the clients of a server that starts.
 */
export class MissedValues {
  /** Weak, because a space may rest for long until its next beat. */
  private recent: WeakRef<Recent> | undefined

  /**
   * The values at an address after each beat later than `after` that changed it; or the reason why they are unknown.
   *
   * @throws PersistenceError
   */
  since(store: SpaceStore, address: Address, after: number): Found {
    const head = store.head().beat
    const anchor = store.anchor().beat
    if (after > head) return `beat ${after} is not in this space, whose newest is ${head}`
    if (anchor > after) return `the journal is pruned up to beat ${anchor}`
    const known = this.recent?.deref()
    // What follows a head before `after` would be read for nobody.
    if (known !== undefined && known.head >= after && known.goOn(head)) return known.since(address, after)
    const recent = new Recent(store, head)
    this.recent = new WeakRef(recent)
    return recent.since(address, after)
  }
}

/** A change of a document in a beat. */
interface Changed {
  readonly beat: number
  readonly cell: CellRecord
}

/** The newest part of a journal, up to its head. It is read backwards, as far as a subscriber needs it. */
class Recent {
  head: number
  private readonly store: SpaceStore
  /** The oldest beat that was read. */
  private first: number
  private size = 0
  private isFull = false
  /** The changes of each document, newest first. */
  private readonly byKey = new Map<string, Array<Changed>>()
  private readonly found = new Map<string, Found>()

  constructor(store: SpaceStore, head: number) {
    this.store = store
    this.head = head
    this.first = head + 1
  }

  since(address: Address, after: number): Found {
    const asked = `${after} ${address.text}`
    const known = this.found.get(asked)
    if (known !== undefined) return known
    if (this.found.size >= MAX_SHARED) this.found.clear()
    const found = this.reaches(after + 1)
      ? this.changes(address, after)
      : `what happened since takes more than ${MAX_READ} characters of journal`
    this.found.set(asked, found)
    return found
  }

  /** Reads on to a later head. Returns whether it is still short enough; if not, it is of no more use. */
  goOn(head: number): boolean {
    if (head === this.head) return true
    let size = this.size
    const later: Array<Changed> = []
    for (const { beat, text } of this.store.scanJournal(this.head + 1, head)) {
      size += text.length
      if (size > MAX_READ) return false
      for (const cell of Records.cellsOf(Journal.parse(text))) later.push({ beat, cell })
    }
    for (const changed of later) this.changesOf(changed.cell.key).unshift(changed)
    this.size = size
    this.head = head
    this.found.clear()
    return true
  }

  /** Reads back to a beat. Returns whether the journal since then is short enough. */
  private reaches(beat: number): boolean {
    while (this.first > beat && !this.isFull) {
      const from = Math.max(beat, this.first - CHUNK)
      for (const { beat, text } of [...this.store.scanJournal(from, this.first - 1)].reverse()) this.add(beat, text)
      if (!this.isFull) this.first = from
    }
    return this.first <= beat
  }

  private add(beat: number, text: string): void {
    this.size += text.length
    if (this.size > MAX_READ) this.isFull = true
    if (this.isFull) return
    for (const cell of Records.cellsOf(Journal.parse(text))) this.changesOf(cell.key).push({ beat, cell })
    this.first = beat
  }

  private changesOf(key: string): Array<Changed> {
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const changes: Array<Changed> = []
    this.byKey.set(key, changes)
    return changes
  }

  private changes({ key, path }: Address, after: number): Found {
    const read = { path, shallow: false }
    const found: Array<Observation> = []
    for (const { beat, cell } of [...this.byKey.get(key) ?? []].reverse()) {
      if (beat <= after) continue
      const [was, is] = [Records.documentOf(cell.before), Records.documentOf(cell.after)]
      if (Change.triggers(read, { path: [], before: Codec.read(was, []), after: Codec.read(is, []) })) {
        found.push(observe(beat, is, path))
      }
      if (found.length > MAX_MISSED) return `more than ${MAX_MISSED} values were missed`
    }
    return found
  }
}
