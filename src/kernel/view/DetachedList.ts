/**
 * The work that waits in a detached space for its release, by kind.
 *
 * A list looks at all of it, a page at a time, and holds a count, the oldest date, and the first ones.
 *
 * @module
 */
import * as Control from "../../contract/Control.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { PendingSignal } from "../model/Signal.ts"
import * as SchedulePlan from "../model/SchedulePlan.ts"
import { MAX_ROWS } from "./PageTurns.ts"

/** The members of the state of a space that the list uses. */
type State = Pick<LiveState, "clock" | "documents" | "ledgers" | "mode" | "states" | "store">

/**
 * The work that waits in a detached space.
 */
export type DetachedWork = AnswerOf<typeof Control.detached>

type Leaving = DetachedWork["requests"]
type Work = Leaving["first"][number]

/** Counts the work of one kind. */
class Counted {
  private count = 0
  private oldest = Infinity
  private readonly first: Array<Work> = []

  add(work: Work): void {
    this.count++
    this.oldest = Math.min(this.oldest, work.date ?? Infinity)
    if (this.first.length < Control.LEAVING) this.first.push(work)
  }

  get all(): Leaving {
    const { count, first, oldest } = this
    return { count, ...oldest === Infinity ? {} : { oldest }, first }
  }
}

const named = ({ signal, target }: PendingSignal["signal"]): string => signal ?? target ?? ""

/** Looks at all waiting work, and pauses after each page. Returns `undefined` for a space that is not detached. */
export function* find(state: State): Generator<void, DetachedWork | undefined, void> {
  const { clock: { shifted }, documents, ledgers, mode: { detached }, states, store } = state
  if (detached === undefined) return undefined
  const [requests, outbox, timers, original] = [new Counted(), new Counted(), new Counted(), new Counted()]
  for (const { ledger, place } of ledgers.all) {
    for (const work of ledger.outward?.waiting(states[place], documents) ?? []) requests.add(work)
  }
  for (const enzyme of documents.children("space", SchedulePlan.FOLDER)) {
    const next = SchedulePlan.read(documents.read(SchedulePlan.addressOf(enzyme).key))?.next
    if (next !== undefined) timers.add({ id: enzyme, name: enzyme, date: next })
  }
  let looked = 0
  for (const row of store.queue()) {
    if (++looked % MAX_ROWS === 0) yield
    const { again, due, leaves, seq, signal } = PendingSignal.fromRow(row)
    const work = { id: signal.id, name: named(signal) }
    if (leaves) {
      const { sent, space = "" } = signal.to ?? {}
      const isOwn = detached.why === "restore" || seq > detached.last
      const counted = isOwn ? outbox : original
      counted.add({ ...work, to: space, ...sent === undefined ? {} : { date: sent - shifted } })
    } else if (due !== undefined && again === undefined) {
      timers.add({ ...work, ...due.moment === undefined ? {} : { date: due.moment - shifted } })
    }
  }
  const { beat, from, why } = detached
  return { why, from, beat, requests: requests.all, outbox: outbox.all, timers: timers.all, original: original.all }
}
