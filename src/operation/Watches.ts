/**
 * The open watchers of a space, indexed by operation and condition.
 *
 * A state change finds the matching watchers without a scan of the others. Memory
 * holds only an entry for each; the rest is in the watcher's cell.
 *
 * @module
 */
import type { Timer } from "../stage/CellTimers.ts"
import * as Due from "../stage/Due.ts"
import * as Dossier from "./Dossier.ts"

/** The most open watchers of a space, and of one operation. */
export const MAX_OPEN = 1_000_000
export const MAX_AT_ONE = 1024

/**
 * One open watcher.
 */
export interface Watch {
  readonly oid: string
  readonly number: number
  readonly want: string
  readonly enzyme: string
  /** The beat at which it expires; 0 for never. */
  readonly deadline: number
  /** The beat that opened it, with its clock in milliseconds since 1970. */
  readonly since: { readonly beat: number; readonly clock: number }
  /** Whether it was removed. */
  gone: boolean
  /** Its timer, if it has a deadline and is in the index. */
  timer?: Timer
}

/** The watchers of one operation. */
interface Own {
  readonly byNumber: Map<number, Watch>
  readonly byWant: Map<string, Set<Watch>>
  readonly byEnzyme: Map<string, number>
}

const none: ReadonlySet<Watch> = new Set()

/**
 * All open watchers of a space.
 */
export class Watches {
  size = 0
  private readonly byOperation = new Map<string, Own>()

  add(watch: Watch): void {
    const { enzyme, number, oid, want } = watch
    const own = this.byOperation.get(oid) ?? { byNumber: new Map(), byWant: new Map(), byEnzyme: new Map() }
    this.byOperation.set(oid, own)
    own.byNumber.set(number, watch)
    const wanting = own.byWant.get(want)
    if (wanting === undefined) own.byWant.set(want, new Set([watch]))
    else wanting.add(watch)
    own.byEnzyme.set(enzyme, (own.byEnzyme.get(enzyme) ?? 0) + 1)
    this.size++
  }

  remove(watch: Watch): void {
    const own = this.byOperation.get(watch.oid)
    if (own === undefined || !own.byNumber.delete(watch.number)) return
    watch.gone = true
    if (watch.timer !== undefined) watch.timer.gone = true
    this.size--
    if (own.byNumber.size === 0) return void this.byOperation.delete(watch.oid)
    const wanting = own.byWant.get(watch.want)!
    wanting.delete(watch)
    if (wanting.size === 0) own.byWant.delete(watch.want)
    own.byEnzyme.set(watch.enzyme, own.byEnzyme.get(watch.enzyme)! - 1)
  }

  /** The watcher of an operation with a number. */
  get(oid: string, number: number): Watch | undefined {
    return this.byOperation.get(oid)?.byNumber.get(number)
  }

  /** The watchers of an operation with a condition. */
  wanting(oid: string, want: string): ReadonlySet<Watch> {
    return this.byOperation.get(oid)?.byWant.get(want) ?? none
  }

  /** All watchers. */
  *all(): Iterable<Watch> {
    for (const { byNumber } of this.byOperation.values()) yield* byNumber.values()
  }

  /** The timers of all watchers with a deadline. */
  *timers(): Iterable<Timer> {
    for (const { timer } of this.all()) if (timer !== undefined) yield timer
  }

  /** All watchers of an operation. */
  of(oid: string): Iterable<Watch> {
    return this.byOperation.get(oid)?.byNumber.values() ?? none
  }

  /** The number of watchers of an enzyme at an operation. */
  count(oid: string, enzyme: string): number {
    return this.byOperation.get(oid)?.byEnzyme.get(enzyme) ?? 0
  }
}

/**
 * The index entry of a watcher, from its cell.
 */
export const watch = (oid: string, number: number, { deadline, enzyme, issued_beat, issued_ms, want }: Dossier.Watcher): Watch =>
  ({ oid, number, want, enzyme, deadline, since: { beat: issued_beat, clock: issued_ms }, gone: false })

/** Sets the timer of a watcher, by the tempo of its space; `undefined` for one without a deadline. */
export const timed = (watch: Watch, tempo: number): Timer | undefined => {
  const { deadline, number, oid, since: { beat, clock } } = watch
  if (deadline === 0) return undefined
  const due = Due.after(deadline - beat, { beat, clock, tempo })
  return watch.timer = { key: Dossier.watcherAddress(oid, number).key, due, gone: false }
}

/** Compares watchers by the creation of their operations, then by number. */
export const inOrder = (a: Watch, b: Watch): number => Dossier.byCreation(a.oid, b.oid) || a.number - b.number
