/**
 * The entrance: how a signal from outside becomes an event.
 *
 * It is checked, gets its id, and is found out where it came before. A caller's
 * id becomes a digest of who sends it and for what, so that two callers, or two
 * signals, cannot meet under one id. (Architecture, section 5, "Ids".)
 *
 * @module
 */
import * as Emission from "../stage/Emission.ts"
import type * as Launch from "../stage/Launch.ts"
import type { Body } from "./Body.ts"
import * as Receipts from "./Receipts.ts"
import * as Signal from "./Signal.ts"
import type { PostedSignal } from "./Space.ts"
import { IdReused, InboxFull } from "./SpaceError.ts"

/** What a posted signal turned out to be: new, or known under its id. */
export type Entered =
  | { readonly kind: "new"; readonly pending: Signal.Pending }
  | { readonly kind: "known"; readonly id: string }

/** Most characters of a caller's id. */
const MAX_ID = 512

/**
 * Makes events of what is posted to one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Entrance {
  private readonly body: Body
  /** The beat that the newest ids were minted for, and the next number under it. */
  private minted: { beat: number; next: number }

  constructor(body: Body) {
    this.body = body
    this.minted = { beat: body.store.head().beat + 1, next: 0 }
    for (const id of body.inbox.waiting.keys()) {
      const [mark, beat, number] = id.split(".")
      if (mark === "x" && Number(beat) === this.minted.beat) this.minted.next = Math.max(this.minted.next, Number(number) + 1)
    }
  }

  /**
   * @throws InvalidSignal, InvalidAddress, InvalidValue, IdReused, InboxFull
   */
  enter(posted: PostedSignal): Entered {
    const { body } = this
    const { inbox, settings: { limits, tempo } } = body
    const head = body.store.head()
    const sent = Emission.make("", posted, head.beat)
    const text = sent.payload?.text ?? ""
    const callers = posted.id === undefined ? undefined : this.callersId(posted, posted.id, sent)
    if (callers !== undefined && this.isKnown(callers, text, posted.id!)) return { kind: "known", id: callers }
    const limit = inbox.limitFor(Signal.size(sent), limits)
    if (limit !== undefined) throw new InboxFull({ space: body.space, limit })
    const expected = callers === undefined ? head.beat + 1 : undefined
    const id = callers ?? this.mint(head.beat + 1)
    const signal = Signal.make({ ...sent, id }, { origin: callers === undefined ? "ingress" : "caller", depth: 0, expected })
    const since = { beat: head.beat, clock: body.host.now(), tempo }
    const due = posted.at === undefined ? undefined : Signal.due(posted.at, since)
    return { kind: "new", pending: new Signal.Pending(body.number(), signal, { due }) }
  }

  private mint(beat: number): string {
    if (this.minted.beat !== beat) this.minted = { beat, next: 0 }
    return `x.${beat}.${this.minted.next++}`
  }

  /** Whether an event with this id came before, with the same payload. */
  private isKnown(id: string, text: string, given: string): boolean {
    const { hash, inbox, store } = this.body
    const waiting = inbox.waiting.get(id)
    const before = waiting === undefined ? Receipts.digestOf(store, id) : waiting.payload?.text ?? ""
    if (before === undefined) return false
    if (before !== (waiting === undefined ? Receipts.digest(text, hash) : text)) throw new IdReused({ id: given })
    return true
  }

  /** Of the signal and target as they were understood, so that every way to write them is one. */
  private callersId({ principal = "local" }: PostedSignal, id: string, { signal = "", target = "" }: Launch.Emission): string {
    if (typeof id !== "string" || id === "" || id.length > MAX_ID) {
      throw new Emission.InvalidSignal({ reason: `its id has ${String(id).length} characters; give 1 to ${MAX_ID}` })
    }
    return this.body.hash(JSON.stringify([principal, "signal", id, signal, target])).slice(0, 32)
  }
}
