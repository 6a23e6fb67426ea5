/**
 * The continuations in memory: those of the runs that advanced most recently.
 *
 * @module
 */
import type { Continuation } from "./Continuation.ts"
import type { Stray } from "./Note.ts"

/**
 * The continuations of one space, by the ids of their operations.
 */
export class ContinuationCache {
  private readonly known = new Map<string, Continuation>()
  /** The runs without a continuation in memory that got a result since their newest segment began. */
  private readonly unnoted = new Set<string>()
  /** Called with a run whose body goes on outside its segments, before this segment; `undefined` in a replay. */
  strayed: ((run: { readonly oid: string; readonly segment: number; readonly stray: Stray }) => void) | undefined

  get size(): number {
    return this.known.size
  }

  /** Takes the continuation that is to make a segment next; `undefined` if it has to be remade. */
  take(oid: string, segment: number): Continuation | undefined {
    const found = this.known.get(oid)
    // Its segment may be dropped with its beat. Only the merge puts it back.
    this.known.delete(oid)
    this.unnoted.delete(oid)
    return found?.tx.segment === segment ? found : undefined
  }

  /** Drops the continuation of a run, if it is in memory. */
  drop(oid: string): void {
    this.known.delete(oid)
    this.unnoted.delete(oid)
  }

  /** Drops all continuations. */
  clear(): void {
    this.known.clear()
  }

  /** Notes that a request or an event of a run has its result. A beat that is dropped may have noted it, so the cells decide. */
  note(oid: string, id: string): void {
    const found = this.known.get(oid)
    if (found === undefined) this.unnoted.add(oid)
    else found.tx.handles.note(id)
  }

  /** Keeps a continuation of which a segment is merged; beyond the limit, the oldest is dropped. */
  keep(oid: string, continuation: Continuation, limit: number): void {
    if (this.unnoted.delete(oid)) continuation.tx.handles.doubt()
    this.known.set(oid, continuation)
    if (this.known.size <= limit) return
    for (const oldest of this.known.keys()) return void this.known.delete(oldest)
  }
}
