/**
 * The open handles of a durable run.
 *
 * A body may leave handles behind that it never awaits. A segment therefore looks at the handles that may have a result, and
 * at no others: requests and events with a noted result, the oldest wait for each signal, and the sleeps that end first.
 *
 * @module
 */
import type * as Due from "../stage/Due.ts"
import type { AwaitedObject, Handle, HandleResult } from "./Handle.ts"
import { Sleeps } from "./Sleeps.ts"

/** The objects whose results are noted: requests, and events that the run sent. */
export type NotedObject = Extract<AwaitedObject, { readonly kind: "request" | "event" }>
type Wait = Extract<AwaitedObject, { readonly kind: "signal" }>

const none: ReadonlyMap<number, Wait> = new Map()

const idOf = (awaited: NotedObject): string => awaited.kind === "request" ? awaited.rid : awaited.id

/** The results that a beat has. */
export interface Results {
  readonly now: Pick<Due.Now, "beat" | "clock">
  /** The result of a request or an event; `undefined` while it is open. */
  readonly answered: (number: number, awaited: NotedObject) => HandleResult | undefined
  /** The heard signal of a wait; `undefined` until it is heard. */
  readonly heard: (number: number, wait: Wait) => HandleResult | undefined
}

/** The time at which a handle may be settled. */
export interface DueHandle {
  readonly number: number
  readonly due: Due.Due
}

/**
 * The open handles of one run, by number.
 */
export class OpenHandles {
  private readonly handles = new Map<number, Handle>()
  /** The requests and the events, by their ids. */
  private readonly noted = new Map<string, readonly [number: number, awaited: NotedObject]>()
  /** Those with a noted result. */
  private readonly answered = new Set<string>()
  /** Whether each of them with a result is noted. */
  private isNoted = false
  /** The waits for each pair, by number. They hear its signals in this order. */
  private readonly waits = new Map<number, Map<number, Wait>>()
  private readonly sleeps = new Sleeps()
  private awaited = 0

  get size(): number {
    return this.handles.size
  }

  /** Whether the body awaits one of them. */
  get isAwaited(): boolean {
    return this.awaited > 0
  }

  /** Notes that the body awaits a handle. Returns whether this is the first time, and the handle is open. */
  await(handle: Handle): boolean {
    if (handle.isAwaited || !this.handles.has(handle.number)) return false
    handle.isAwaited = true
    this.awaited++
    return true
  }

  has(number: number): boolean {
    return this.handles.has(number)
  }

  add(handle: Handle): void {
    const { awaited, number } = handle
    this.handles.set(number, handle)
    if (handle.isAwaited) this.awaited++
    if (awaited.kind === "request" || awaited.kind === "event") this.noted.set(idOf(awaited), [number, awaited])
    else if (awaited.kind === "sleep") this.sleeps.add({ number, due: awaited.due })
    else {
      const waits = this.waits.get(awaited.pair)
      if (waits === undefined) this.waits.set(awaited.pair, new Map([[number, awaited]]))
      else waits.set(number, awaited)
    }
  }

  /** Removes a handle. */
  take(number: number): Handle | undefined {
    const handle = this.handles.get(number)
    if (handle === undefined) return undefined
    const { awaited, isAwaited } = handle
    this.handles.delete(number)
    if (isAwaited) this.awaited--
    if (awaited.kind === "sleep") this.sleeps.delete(number)
    else if (awaited.kind === "signal") this.dropWait(number, awaited)
    else {
      this.noted.delete(idOf(awaited))
      this.answered.delete(idOf(awaited))
    }
    return handle
  }

  /** Removes a handle that is cancelled. Later waits for its signal hear what it would have heard. */
  cancel(number: number): Handle | undefined {
    const handle = this.take(number)
    if (handle?.awaited.kind !== "signal") return handle
    const waits = this.waits.get(handle.awaited.pair)
    for (const [other, wait] of waits ?? none) if (other > number) waits?.set(other, { ...wait, nth: wait.nth - 1 })
    return handle
  }

  /** The open requests that the body does not await, in the order of their numbers. */
  unawaited(): ReadonlyArray<string> {
    const isAwaited = (handle: Handle | undefined): boolean => handle !== undefined && handle.isAwaited && !handle.isLoose
    return [...this.noted.values()].flatMap(([number, awaited]) =>
      awaited.kind === "event" || isAwaited(this.handles.get(number)) ? [] : [awaited.rid])
  }

  /** A pair without waits is left out, so that a segment looks at those with waits alone. */
  private dropWait(number: number, { pair }: Wait): void {
    const waits = this.waits.get(pair)
    waits?.delete(number)
    if (waits?.size === 0) this.waits.delete(pair)
  }

  /** Notes that a request or an event has its result. */
  note(id: string): void {
    if (this.noted.has(id)) this.answered.add(id)
  }

  /** A result may have arrived without a note, so that the next segment looks at each request and event. */
  doubt(): void {
    this.isNoted = false
  }

  /** All of them, in the order of their numbers. */
  *all(): Iterable<readonly [number: number, awaited: AwaitedObject]> {
    for (const [number, { awaited }] of this.handles) yield [number, awaited]
  }

  /** The results of this beat, in the order of their calls. The handles stay until they are settled. */
  settled({ answered, heard, now }: Results): ReadonlyArray<HandleResult> {
    const found: Array<HandleResult> = []
    for (const id of this.isNoted ? this.answered : this.noted.keys()) {
      const known = this.noted.get(id)
      const result = known === undefined ? undefined : answered(...known)
      if (result !== undefined) found.push(result)
    }
    this.isNoted = true
    this.answered.clear()
    for (const waits of this.waits.values()) {
      for (const [number, wait] of waits) {
        const result = heard(number, wait)
        if (result === undefined) break
        found.push(result)
      }
    }
    for (const { number } of this.sleeps.takeOver(now)) found.push([number, "ok"])
    return found.sort(([a], [b]) => a - b)
  }

  /** The times at which a sleep or a wait may be settled, in the order of their numbers. `isHeard` is whether a signal is there. */
  dues(isHeard: (wait: Wait) => boolean, now: Due.Due): ReadonlyArray<DueHandle> {
    const found: Array<DueHandle> = [...this.sleeps.first()]
    for (const waits of this.waits.values()) {
      for (const [number, wait] of waits) {
        if (isHeard(wait)) found.push({ number, due: now })
        break
      }
    }
    return found.sort((a, b) => a.number - b.number)
  }
}
