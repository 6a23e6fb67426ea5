/**
 * The signal buffer: pending signals by sequence number and by id.
 *
 * Queues and heaps hold sequence numbers. Memory holds at most one beat's worth of the
 * signals, and those without a row. The others are read from their rows when their turn
 * comes, so a backlog costs one number each.
 *
 * @module
 */
import { hashOf } from "../../persistence/sql/BloomFilter.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { PersistenceError, StoreDamaged } from "../../persistence/PersistenceError.ts"
import { ChurnMap } from "./ChurnMap.ts"
import type { Limits } from "../model/Limits.ts"
import type { Signal } from "../model/Signal.ts"
import { PendingSignal, size } from "../model/Signal.ts"

/** Rows of one read-ahead, and the largest step between numbers that counts as sequential. */
const AHEAD = 32
const NEAR = 4

/** The store of the rows of pending signals. */
export type Rows = Pick<SpaceStore, "space" | "place" | "queued" | "waiting">

/**
 * The pending signals of one space, most of them in the store.
 */
export class SignalBuffer {
  private readonly rows: Rows | undefined
  private readonly limits: Pick<Limits, "captureSignals" | "captureBytes">
  /** The signals in memory by number, and their characters. */
  private readonly resident = new ChurnMap<number, PendingSignal>()
  private bytes = 0
  /** Texts of the last read-ahead by number, and the highest number read. */
  private ahead: ReadonlyMap<number, string> = new Map()
  private read = -Infinity
  /** Signals from outside without a row, from their arrival until a beat has finished with them. */
  private readonly unsaved = new ChurnMap<string, Signal>()
  /** The hashes of the own ids of stored signals that no beat has finished with, by number; and the numbers that the beat took. */
  private readonly owned = new ChurnMap<number, number>()
  private taken: Array<number> = []
  /** Upper bound of the number of rows, and the number of rows that the beat in progress took. */
  private stored = 0
  private leaving = 0
  /** The newest minted id among the stored ones. */
  private minted: string | undefined

  /** Without rows, all signals stay in memory. */
  constructor(limits: Pick<Limits, "captureSignals" | "captureBytes">, rows?: Rows) {
    this.limits = limits
    this.rows = rows
  }

  /** Adds a pending signal. */
  add(pending: PendingSignal): void {
    const { signal, stored } = pending
    if (stored) this.addRow(pending)
    else if (signal.origin !== "run") this.unsaved.set(signal.id, signal)
    if (!stored || this.hasRoom) this.keep(pending)
  }

  /** Records a stored signal that no beat captured. Calls follow the order of sequence numbers. */
  restore({ id, origin }: Signal): void {
    if (origin === "ingress") this.minted = id
  }

  /** The signal of a sequence number. */
  at(seq: number): PendingSignal {
    const known = this.resident.get(seq)
    if (known !== undefined) return known
    const pending = this.revive(seq, this.ahead.get(seq) ?? this.fetch(seq))
    if (this.hasRoom) this.keep(pending)
    return pending
  }

  /** A beat takes the signal. Its row stays until that beat is committed. */
  take(pending: PendingSignal): void {
    if (pending.stored) this.leaving++
    if (pending.stored && pending.signal.own !== undefined) this.taken.push(pending.seq)
    this.drop(pending)
  }

  /** The beat of the last `take` calls is committed. */
  committed(): void {
    this.stored -= this.leaving
    this.leaving = 0
    if (this.taken.length === 0) return
    for (const seq of this.taken) this.owned.delete(seq)
    this.taken = []
  }

  /** Arrived, uncaptured signals have their rows now. */
  saved(pendings: ReadonlyArray<PendingSignal>): void {
    for (let i = pendings.length - 1; i >= 0; i--) {
      const pending = pendings[i]!
      // A signal that the beat in progress took stays findable here until `done`.
      if (!this.resident.has(pending.seq)) continue
      this.addRow(pending)
      this.unsaved.delete(pending.signal.id)
      if (this.isOver) this.drop(pending)
    }
  }

  /** A beat has finished with a signal; its remaining attempts have rows. */
  done({ id, origin }: Signal): void {
    if (origin !== "run") this.unsaved.delete(id)
  }

  /** The pending signal of an id: from outside, or for another attempt. */
  get(id: string): Signal | undefined {
    return this.unsaved.get(id) ?? this.named(id)[0]?.signal
  }

  has(id: string): boolean {
    return this.unsaved.has(id) || this.named(id).length > 0
  }

  /** The ids without a row, and the newest minted id at the opening of the space. */
  *keys(): Iterable<string> {
    if (this.minted !== undefined) yield this.minted
    yield* this.unsaved.keys()
  }

  /** The ids of the pending signals with this own id, newest first. */
  ownedBy(own: string): ReadonlyArray<string> {
    const ids: Array<string> = []
    const hash = hashOf(own)
    for (const seq of this.owned.keys()) {
      if (this.owned.get(seq) !== hash) continue
      const row = this.resident.has(seq) ? undefined : this.rows?.queued(seq, 1).find((row) => row.seq === seq)
      const signal = this.resident.get(seq)?.signal ?? (row && PendingSignal.fromRow(row).signal)
      if (signal?.own === own) ids.push(signal.id)
    }
    for (const { id, own: other } of this.unsaved.values()) if (other === own) ids.push(id)
    return ids.reverse()
  }

  /** All rows of an id. */
  named(id: string): ReadonlyArray<PendingSignal> {
    return this.stored === 0 ? [] : this.rows?.waiting(id).map(PendingSignal.fromRow) ?? []
  }

  /** Records the row of a pending signal. An attempt is found by the receipt of its event. */
  private addRow({ again, seq, signal: { own } }: PendingSignal): void {
    this.stored++
    if (own !== undefined && again === undefined) this.owned.set(seq, hashOf(own))
  }

  /** The text of a row. Sequential access reads ahead. */
  private fetch(seq: number): string {
    const limit = seq > this.read && seq <= this.read + NEAR ? AHEAD : 1
    const rows = this.rows?.queued(seq, limit) ?? []
    const [row] = rows
    if (row?.seq !== seq) throw this.damaged(seq, "gone")
    this.read = rows.at(-1)?.seq ?? seq
    if (limit > 1) this.ahead = new Map(rows.map((row) => [row.seq, row.text]))
    return row.text
  }

  private revive(seq: number, text: string): PendingSignal {
    try {
      return PendingSignal.fromRow({ seq, text })
    } catch {
      throw this.damaged(seq, "no signal")
    }
  }

  private get hasRoom(): boolean {
    return this.rows === undefined || (this.resident.size < this.limits.captureSignals && this.bytes < this.limits.captureBytes)
  }

  private get isOver(): boolean {
    return this.rows !== undefined && (this.resident.size > this.limits.captureSignals || this.bytes > this.limits.captureBytes)
  }

  private keep(pending: PendingSignal): void {
    this.resident.set(pending.seq, pending)
    this.bytes += size(pending.signal)
  }

  private drop(pending: PendingSignal): void {
    if (this.resident.delete(pending.seq)) this.bytes -= size(pending.signal)
  }

  private damaged(seq: number, what: string): PersistenceError {
    const { place = "memory", space = "" } = this.rows ?? {}
    return new PersistenceError({ reason: new StoreDamaged({ space, place, detail: `the signal that waits as number ${seq} is ${what}` }) })
  }
}
