/**
 * The calendar: which entries a beat has to look at, and nothing more.
 *
 * It follows from the entries' cells alone and is made anew when a space is
 * opened. An entry that waits costs a place in a heap; no beat scans the ledger.
 *
 * @module
 */
import type { Due, Now } from "../stage/Due.ts"
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import { isAwaited, nextDue } from "./Transition.ts"

/**
 * A time at which an entry has to be looked at.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appointment {
  readonly key: string
  readonly due: Due
  /** Whether another one took its place, or none is needed any more. */
  gone: boolean
}

/** What is known of an entry that is not over. */
interface Slot {
  readonly appointments: ReadonlyArray<Appointment>
  /** The variants that it is one of. */
  readonly inst_id: string | undefined
}

const none: ReadonlyArray<Appointment> = []

/**
 * The entries of a space that are not over.
 *
 * @category models
 * @since 0.1.0
 */
export class Calendar {
  private readonly slots = new Map<string, Slot>()
  private readonly variants = new Map<string, Set<string>>()

  /** How many there are. */
  get size(): number {
    return this.slots.size
  }

  /** Takes in how an entry stands after a beat; answers the appointments that are gone and those that it has now. */
  see(key: string, entry: Entry | undefined, now: Now): { readonly gone: ReadonlyArray<Appointment>; readonly next: ReadonlyArray<Appointment> } {
    const before = this.slots.get(key)
    const gone = before?.appointments ?? none
    for (const appointment of gone) appointment.gone = true
    this.leave(key, before)
    if (entry === undefined || Entries.isFinished(entry)) {
      this.slots.delete(key)
      return { gone, next: none }
    }
    const next = nextDue(entry, now).map((due) => ({ key, due, gone: false }))
    this.slots.set(key, { appointments: next, inst_id: variantOf(entry) })
    this.join(key, variantOf(entry))
    return { gone, next }
  }

  /** The appointments of all. */
  *appointments(): Iterable<Appointment> {
    for (const { appointments } of this.slots.values()) yield* appointments
  }

  /** The open variants under an id, in an order that does not tell of what each went through. */
  rivals(id: string): ReadonlyArray<string> {
    return [...this.variants.get(id) ?? []].sort()
  }

  private join(key: string, id: string | undefined): void {
    if (id === undefined) return
    const keys = this.variants.get(id)
    if (keys === undefined) this.variants.set(id, new Set([key]))
    else keys.add(key)
  }

  private leave(key: string, slot: Slot | undefined): void {
    if (slot?.inst_id === undefined) return
    const keys = this.variants.get(slot.inst_id)!
    keys.delete(key)
    if (keys.size === 0) this.variants.delete(slot.inst_id)
  }
}

/** The id that the variants of one question share, of which the first to be applied ends the others. */
export const variantOf = (entry: Entry): string | undefined => entry.prof === "spec" && isAwaited(entry) ? entry.inst_id : undefined
