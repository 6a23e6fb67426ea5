/**
 * Waiting: the signals that wait in a space, by number and by id.
 *
 * Queues and heaps hold numbers. Of what these stand for, as much as one beat
 * can take is in memory, with what has no row yet; the rest is read from its row
 * when its turn comes. So what waits costs the heap its number, however much it
 * is. (Architecture, section 5.)
 *
 * @module
 */
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { PersistenceError, StoreDamaged } from "../../persistence/PersistenceError.ts"
import { ChurnMap } from "./ChurnMap.ts"
import type { Limits } from "../model/Limits.ts"
import type { Signal } from "../model/Signal.ts"
import { Pending, size } from "../model/Signal.ts"

/** Rows that are read at once where numbers are asked for in order, which they are where one is so near to the one before. */
const AHEAD = 32
const NEAR = 4

/** Where the rows of what waits are. */
export type Rows = Pick<SpaceStore, "space" | "place" | "queued" | "waiting">

/**
 * What waits in one space, most of it in the store.
 *
 * @category models
 * @since 0.1.0
 */
export class SignalBuffer {
  private readonly rows: Rows | undefined
  private readonly limits: Pick<Limits, "captureSignals" | "captureBytes">
  /** What is in memory, by its number, and its characters. */
  private readonly resident = new ChurnMap<number, Pending>()
  private bytes = 0
  /** Texts that were read ahead, by number, and the newest number that was read. */
  private ahead: ReadonlyMap<number, string> = new Map()
  private read = -Infinity
  /** Signals from outside that have no row to be found by, from their arrival until a beat is done with them. */
  private readonly unsaved = new ChurnMap<string, Signal>()
  /** How many rows there are at most, and how many of them the beat under way took. */
  private stored = 0
  private leaving = 0
  /** The newest of the stored ids that were minted. */
  private minted: string | undefined

  /** Without rows, all stays in memory. */
  constructor(limits: Pick<Limits, "captureSignals" | "captureBytes">, rows?: Rows) {
    this.limits = limits
    this.rows = rows
  }

  /** Takes in what is to wait. */
  add(pending: Pending): void {
    const { signal, stored } = pending
    if (stored) this.stored++
    else if (signal.origin !== "run") this.unsaved.set(signal.id, signal)
    if (!stored || this.hasRoom) this.keep(pending)
  }

  /** Takes note of a signal that a store kept and no beat captured, in the order of their numbers. */
  recall({ id, origin }: Signal): void {
    if (origin === "ingress") this.minted = id
  }

  /** What waits under a number. */
  at(seq: number): Pending {
    const known = this.resident.get(seq)
    if (known !== undefined) return known
    const pending = this.revive(seq, this.ahead.get(seq) ?? this.fetch(seq))
    if (this.hasRoom) this.keep(pending)
    return pending
  }

  /** A beat takes it; its row stays until that beat is committed. */
  take(pending: Pending): void {
    if (pending.stored) this.leaving++
    this.drop(pending)
  }

  /** The beat that took the last ones is done. */
  settle(): void {
    this.stored -= this.leaving
    this.leaving = 0
  }

  /** What arrived and was not captured has its rows now. */
  saved(pendings: ReadonlyArray<Pending>): void {
    for (let i = pendings.length - 1; i >= 0; i--) {
      const pending = pendings[i]!
      // What a beat under way has taken is found here until that is done with it.
      if (!this.resident.has(pending.seq)) continue
      this.stored++
      this.unsaved.delete(pending.signal.id)
      if (this.isOver) this.drop(pending)
    }
  }

  /** A beat is done with a signal: what is left of it has rows. */
  done({ id, origin }: Signal): void {
    if (origin !== "run") this.unsaved.delete(id)
  }

  /** The signal from outside, or the one that is tried again, that waits under an id. */
  get(id: string): Signal | undefined {
    return this.unsaved.get(id) ?? this.named(id)[0]?.signal
  }

  has(id: string): boolean {
    return this.unsaved.has(id) || this.named(id).length > 0
  }

  /** The ids of what has no row, and the newest minted one of what had when the space was opened. */
  *keys(): Iterable<string> {
    if (this.minted !== undefined) yield this.minted
    yield* this.unsaved.keys()
  }

  /** All that has a row and this id. */
  named(id: string): ReadonlyArray<Pending> {
    return this.stored === 0 ? [] : this.rows?.waiting(id).map(Pending.fromRow) ?? []
  }

  /** The text of a row. Who asks for numbers in order is likely to go on so. */
  private fetch(seq: number): string {
    const limit = seq > this.read && seq <= this.read + NEAR ? AHEAD : 1
    const rows = this.rows?.queued(seq, limit) ?? []
    if (rows[0]?.seq !== seq) throw this.damaged(seq, "gone")
    this.read = rows.at(-1)!.seq
    if (limit > 1) this.ahead = new Map(rows.map((row) => [row.seq, row.text]))
    return rows[0]!.text
  }

  private revive(seq: number, text: string): Pending {
    try {
      return Pending.fromRow({ seq, text })
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

  private keep(pending: Pending): void {
    this.resident.set(pending.seq, pending)
    this.bytes += size(pending.signal)
  }

  private drop(pending: Pending): void {
    if (this.resident.delete(pending.seq)) this.bytes -= size(pending.signal)
  }

  private damaged(seq: number, what: string): PersistenceError {
    const { place = "memory", space = "" } = this.rows ?? {}
    return new PersistenceError({ reason: new StoreDamaged({ space, place, detail: `the signal that waits as number ${seq} is ${what}` }) })
  }
}
