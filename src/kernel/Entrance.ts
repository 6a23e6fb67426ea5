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
    const { inbox, settings: { limits, tempo }, store } = body
    const head = store.head()
    const callers = posted.id === undefined ? undefined : this.callersId(posted, posted.id)
    const expected = callers === undefined ? head.beat + 1 : undefined
    const id = callers ?? this.mint(head.beat + 1)
    const sent = Emission.make(id, posted, head.beat)
    const text = sent.payload?.text ?? ""
    if (callers !== undefined) {
      const before = inbox.waiting.get(id)?.payload?.text ?? (inbox.waiting.has(id) ? "" : Receipts.payloadText(store, id))
      if (before !== undefined && before !== text) throw new IdReused({ id: posted.id! })
      if (before !== undefined) return { kind: "known", id }
    }
    if (inbox.signals >= limits.inboxSignals) throw new InboxFull({ space: body.space, limit: `${limits.inboxSignals} signals` })
    if (inbox.bytes + text.length > limits.inboxBytes) throw new InboxFull({ space: body.space, limit: `${limits.inboxBytes} characters` })
    const signal = Signal.make(sent, { origin: callers === undefined ? "ingress" : "caller", depth: 0, expected })
    const since = { beat: head.beat, clock: body.host.now(), tempo }
    const due = posted.at === undefined ? undefined : Signal.due(posted.at, since)
    return { kind: "new", pending: new Signal.Pending(body.number(), signal, { due }) }
  }

  private mint(beat: number): string {
    if (this.minted.beat !== beat) this.minted = { beat, next: 0 }
    return `x.${beat}.${this.minted.next++}`
  }

  private callersId(posted: PostedSignal, id: string): string {
    if (typeof id !== "string" || id === "" || id.length > MAX_ID) {
      throw new Emission.InvalidSignal({ reason: `its id has ${String(id).length} characters; give 1 to ${MAX_ID}` })
    }
    const { principal = "local", signal = "", target = "" } = posted
    return this.body.hash(JSON.stringify([principal, "signal", id, signal, target])).slice(0, 32)
  }
}
