/**
 * Subscriptions to views: beat views, receipts and counts of diagnostics.
 *
 * No document holds a view, so the changes of a beat do not include it. Each durable
 * beat names the views that it may have changed, and the subscribed ones are rendered
 * again.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Value } from "../../cell/Value.ts"
import * as Values from "../../cell/Value.ts"
import { ChurnMap } from "../inbox/ChurnMap.ts"
import type { Beat } from "../beat/step/Commit.ts"
import * as BeatView from "./BeatView.ts"
import type { FlushedReads } from "./FlushedReads.ts"
import type { ReadCallbacks } from "./Expected.ts"
import type { Observation } from "./Space.ts"

/** The name of all views of live halves. */
const LIVE = "live"

/** The view of the counts of diagnostics. */
const COUNTS = "analytics/diag"

/** A subscribed view. */
export interface WatchedView {
  readonly address: Address.Address
  /** The beat of the last observation that the subscriber has. */
  readonly after: number | undefined
  /** Renders the view as of the newest beat. */
  readonly see: () => Observation
  readonly reads: Pick<FlushedReads, "look">
}

/** The destination of the observations. */
export interface Sink {
  readonly tell: (observation: Observation) => void
  readonly fail: ReadCallbacks<Observation>["fail"]
}

/**
 * The subscribed views of one space.
 */
export class ViewSubscriptions {
  private readonly byName = new ChurnMap<string, Set<() => void>>()

  /**
   * Publishes a view now, and after each beat that changes it. Returns the call that ends the subscription.
   *
   * @throws InvalidAddress
   */
  watch({ address, after, reads, see }: WatchedView, { fail, tell }: Sink): () => void {
    const name = nameOf(address)
    let known: Observation | undefined
    let isLooking = false
    let callOff = (): void => {}
    const seen = (now: Observation): void => {
      isLooking = false
      if (known === undefined ? isKnown(now, { address, after }) : Values.equals(known.value, now.value)) return void (known = now)
      const isAhead = known === undefined && after !== undefined && after > now.beat
      tell(isAhead ? { ...now, missed: `beat ${after} is not in this space, whose newest is ${now.beat}` } : now)
      known = now
    }
    const changed = (): void => {
      if (isLooking) return
      isLooking = true
      callOff = reads.look(see, { fail, seen })
    }
    const leave = this.add(name, changed)
    changed()
    return () => {
      leave()
      callOff()
    }
  }

  /** Renders the views again that a durable beat may have changed. */
  publish({ facts, flights, number }: Pick<Beat, "facts" | "flights" | "number">): void {
    if (this.byName.size === 0) return
    this.change(`beat/${number}`)
    this.change(LIVE)
    for (const { signal: { id, own } } of flights) {
      this.change(`receipts/${id}`)
      if (own !== undefined) this.change(`receipts/${own}`)
    }
    if (facts.length > 0) this.change(COUNTS)
  }

  private change(name: string): void {
    for (const changed of this.byName.get(name) ?? []) changed()
  }

  private add(name: string, changed: () => void): () => void {
    const watchers = this.byName.get(name) ?? new Set()
    this.byName.set(name, watchers)
    watchers.add(changed)
    return () => {
      watchers.delete(changed)
      if (watchers.size === 0 && this.byName.get(name) === watchers) this.byName.delete(name)
    }
  }
}

/** The part of a view's address that beats name. */
const nameOf = ({ id, text }: Address.Address): string => {
  const [, , kind, name = "", part] = id.split("/")
  if (kind === "beat" && /^\d{1,15}$/.test(name) && part !== undefined) return `beat/${Number(name)}`
  if (kind === "receipts" && name !== "") return `receipts/${name}`
  if (`${kind}/${name}` === COUNTS) return COUNTS
  if (BeatView.isLive(id)) return LIVE
  throw new Address.InvalidAddress({
    text,
    reason: "it is no view that can be watched. Watch /rt/beat/<N>/inbox, agenda, stage or meta, /rt/receipts/<id>, /rt/analytics/diag, " +
      "or one below /rt/io_reactors or /rt/analytics/async"
  })
}

/** Whether a returning subscriber already has the current observation. */
const isKnown = ({ beat, value }: Observation, { address, after }: Pick<WatchedView, "address" | "after">): boolean => {
  if (after === undefined || after > beat) return false
  if (value === undefined) return true
  const last = lastChange(address, value)
  return last !== undefined && last <= after
}

/** The last beat that changed a view, if known. */
const lastChange = ({ id }: Address.Address, value: Value): number | undefined => {
  const [, , kind, name] = id.split("/")
  if (kind === "beat") return Number(name)
  const { beat, handlings = [] } = value as { readonly beat?: number; readonly handlings?: ReadonlyArray<{ readonly beat: number }> }
  return beat === undefined ? undefined : Math.max(beat, ...handlings.map(({ beat }) => beat))
}
