/**
 * Admission: a signal from outside becomes an event.
 *
 * Admission validates the signal, gives it an id and detects duplicates. A caller's id
 * becomes a digest of its sender, target and signal, so equal ids of different callers
 * or signals cannot collide. The id of a signal from another space is derived likewise.
 *
 * @module
 */
import * as Label from "../../cell/Label.ts"
import * as OutgoingSignal from "../../stage/OutgoingSignal.ts"
import type * as Launch from "../../stage/Launch.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as Receipts from "../beat/step/Receipts.ts"
import * as OwnId from "../model/OwnId.ts"
import * as Signal from "../model/Signal.ts"
import { typesOf } from "../model/SpaceSchema.ts"
import type { PostedSignal } from "../view/Space.ts"
import { IdReused, InboxFull } from "../model/SpaceError.ts"

/** The members of the state of a space that admission uses. */
type State = Pick<
  LiveState,
  "enzymes" | "hash" | "host" | "inbox" | "labels" | "liveClock" | "nodes" | "number" | "seed" | "settings" | "space" | "store"
>

/** The result of an admission: a new event, or a known id. */
export type AdmissionResult =
  | { readonly kind: "new"; readonly pending: Signal.PendingSignal }
  | { readonly kind: "known"; readonly id: string }

/** The identity of a signal, beside its content. */
interface Sender {
  /** The id in this space, and the id as given by the sender. Without the first, one is minted. */
  readonly id: string | undefined
  readonly given: string
  readonly depth: number
  /** The time from which its delay counts, by the clock of the host; by default that of its arrival. */
  readonly since?: number | undefined
  readonly label?: Label.Label | undefined
  /** The id as a caller gave it. */
  readonly own?: string | undefined
  /** The signal of a caller, which is checked by the state of the space if its id is new. */
  readonly posted?: PostedSignal
}

/**
 * Makes events of the signals posted to one space.
 */
export class Admission {
  private readonly state: State
  /** The expected beat of the newest minted ids, and the next number for it. */
  private minted: { beat: number; next: number }

  constructor(state: State) {
    this.state = state
    this.minted = { beat: state.store.head().beat + 1, next: 0 }
    for (const id of state.inbox.waiting.keys()) {
      const [mark, beat, number] = id.split(".")
      if (mark === "x" && Number(beat) === this.minted.beat) this.minted.next = Math.max(this.minted.next, Number(number) + 1)
    }
  }

  /**
   * Admits a signal from outside.
   *
   * @throws InvalidSignal, InvalidAddress, InvalidValue, IdReused, InboxFull
   */
  enter(posted: PostedSignal): AdmissionResult {
    // Any beat may be named here, since a signal that comes again had its check before.
    const sent = OutgoingSignal.make("", posted, -1)
    const label = this.labelOf(posted)
    const { id: own, principal } = posted
    if (own !== undefined) OwnId.check(own)
    // A minted id would reveal the beat to a named sender.
    const given = own ?? (principal === undefined ? undefined : this.state.seed())
    const id = given === undefined ? undefined : this.callersId({ ...posted, label }, given, sent)
    return this.take(sent, { id, given: given ?? "", depth: 0, label, own, posted })
  }

  /**
   * Admits a signal of another space. The event's id is derived from the space's origin and the signal's id.
   *
   * @throws IdReused, InboxFull
   */
  arrive(from: string, { depth, id, payload, signal, target, to }: Signal.Signal): AdmissionResult {
    const own = this.state.hash(JSON.stringify([from, "space", id, this.state.space])).slice(0, 32)
    return this.take({ id, signal, target, payload, at: to?.wait?.at }, { id: own, given: id, depth, since: to?.wait?.since })
  }

  private take(sent: Launch.OutgoingSignal, { depth, given, id: known, label, own, posted, since }: Sender): AdmissionResult {
    const { state } = this
    const { inbox, settings: { limits } } = state
    const head = state.store.head()
    if (known !== undefined && this.isKnown(known, sent.payload?.text ?? "", given)) return { kind: "known", id: known }
    if (posted !== undefined) this.check(posted, sent)
    const limit = inbox.volume.limitFor(Signal.size(sent), limits)
    if (limit !== undefined) throw new InboxFull({ space: state.space, limit })
    const from = known === undefined
      ? { origin: "ingress", expected: head.beat + 1 } as const
      : { origin: "caller", expected: undefined } as const
    const signal = Signal.make({ ...sent, id: known ?? this.mint(head.beat + 1) }, { ...from, depth, label, own })
    const wait = sent.at === undefined ? {} : this.wait(sent.at, since)
    return { kind: "new", pending: new Signal.PendingSignal(state.number(), signal, wait) }
  }

  /** Checks a new signal by the beat and the types of the space, which change between two deliveries of one signal. */
  private check({ payload }: PostedSignal, { at, signal }: Launch.OutgoingSignal): void {
    const { state } = this
    OutgoingSignal.checkBeat(at, state.store.head().beat)
    const declared = typesOf(state).signal(signal)
    if (declared !== undefined) OutgoingSignal.checkPayload(declared, payload)
  }

  /** The wait of a delayed signal, from its arrival or from a time of the host. */
  private wait(at: Launch.DueAt, from: number | undefined): Pick<Signal.PendingSignal, "due" | "since"> {
    const { host, liveClock, settings: { tempo }, store } = this.state
    const since = host.now()
    const clock = from === undefined ? since : Math.min(liveClock.ofSpace(from), since)
    liveClock.note(since)
    return { due: Signal.dueOf(at, { beat: store.head().beat, clock, tempo }), since }
  }

  /** The label given by a caller. Its atoms have to be known in the space, since no clearance admits a mistyped one. */
  private labelOf({ label }: PostedSignal): Label.Label | undefined {
    if (label === undefined) return undefined
    const { top = Label.none } = this.state.labels ?? {}
    if (!Array.isArray(label) || !Label.isWithin(label, top)) {
      throw OutgoingSignal.labelRefusal(label)
    }
    return Signal.labelOrNone(Label.make(label))
  }

  private mint(beat: number): string {
    if (this.minted.beat !== beat) this.minted = { beat, next: 0 }
    return `x.${beat}.${this.minted.next++}`
  }

  /** Whether an event with this id and payload was admitted before. */
  private isKnown(id: string, text: string, given: string): boolean {
    const { hash, inbox, store } = this.state
    const waiting = inbox.waiting.get(id)
    const before = waiting === undefined ? Receipts.digestOf(store, id) : waiting.payload?.text ?? ""
    if (before === undefined) return false
    if (before !== (waiting === undefined ? Receipts.digest(text, hash) : text)) throw new IdReused({ id: given })
    return true
  }

  /** Derived from the parsed signal and target, so that all spellings of them give one id. */
  private callersId({ label, principal = "local" }: PostedSignal, id: string, { signal = "", target = "" }: Launch.OutgoingSignal): string {
    const { hash, space } = this.state
    return hash(JSON.stringify([principal, "signal", id, signal, target, space, ...label === undefined ? [] : [label]])).slice(0, 32)
  }
}
