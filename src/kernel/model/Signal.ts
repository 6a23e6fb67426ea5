/**
 * Signals of a space, and pending signals.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Label from "../../cell/Label.ts"
import * as Codec from "../../cell/Document.ts"
import type { ListedPairs } from "../../durable/Pairs.ts"
import * as Dues from "../../stage/Due.ts"
import type { DueAt, OutgoingSignal, Qos } from "../../stage/Launch.ts"

/**
 * A sent signal: an impulse that coalesces, or an event that is handled exactly once.
 */
export interface Signal {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  readonly payload: Document | undefined
  readonly event: boolean
  /** Its source: a run, the ingress, or the ingress with a caller's id. */
  readonly origin: "run" | "ingress" | "caller"
  /** The length of the signal chain that led to it. */
  readonly depth: number
  /** The beat that captures it unless it is delayed; `undefined` if its id does not say. */
  readonly expected: number | undefined
  /** Identifies the pair of signal and target, separately for each label. */
  readonly pair: string
  /** The route to another space, if it leaves this one. */
  readonly to?: Passage | undefined
  /** The awaiting enzyme at its target, if a watcher of an operation sent it. */
  readonly awaits?: string | undefined
  /** The operation of the durable run that waits for its end. */
  readonly tells?: string | undefined
  /** The label of its content, if it is confidential. */
  readonly label?: Label.Label | undefined
  /** Its quality of service in a pause and a rollback. */
  readonly qos?: Qos | undefined
  /** The id as its caller gave it. Rows of versions before 0.2 have none, and no beat depends on it. */
  readonly own?: string | undefined
}

/** Another space, and the signal's wait there, which is kept across repeated deliveries. */
export interface Passage {
  readonly space: string
  /** The clock of the beat that sent it. Rows of earlier versions have none; that beat's journal row says it. */
  readonly sent?: number | undefined
  /**
   * The origin under which it was sent, which the receiver knows with its id. Rows of stores before format 12 have none: they were
   * sent under the present one.
   */
  readonly from?: string | undefined
  readonly wait?: Wait | undefined
}

/** A wait, and the clock of the requesting beat, from which its time counts. */
export interface Wait {
  readonly at: DueAt
  readonly since: number
}

/** The reason why the target space will never take a signal. */
export interface DeliveryRefusal {
  readonly tag: string
  readonly code: string
  readonly message: string
}

/** A signal that a durable run heard: the number of the pair in the run, and of the signal among those of the pair. */
export interface Heard {
  readonly oid: string
  readonly pair: number
  readonly nth: number
  /** Whether the run awaits it already. */
  readonly isAwaited: boolean
  /** The enzyme of the run; `undefined` in beats of semantics 1. */
  readonly enzyme?: string | undefined
}

/** The result in the receipt of a heard signal. */
export const resultOfHeard = ({ enzyme, isAwaited, nth, pair }: Heard): Document =>
  Codec.encode({ ...enzyme === undefined ? {} : { enzyme }, isAwaited, nth, pair })

/** The most signals of one pair that wait for a durable run. */
export const MAX_HEARD = 100

/** A durable run that waits, or that repeats a segment, with the signals that it hears. */
export interface WaitingRun extends ListedPairs {
  /** Its operation. */
  readonly oid: string
  /** The times at which it goes on at the latest. */
  readonly dues: ReadonlyArray<Dues.Due>
  /** Whether its letter was sent again, and it has no room among the waiting runs since. */
  readonly isAgain?: boolean | undefined
  /** Whether it waits for its module. */
  readonly isHeld?: boolean | undefined
}

/** The signals that a run hears, for another row of it. */
export const pairsOf = ({ changed, hears }: ListedPairs): ListedPairs => changed === undefined ? { hears } : { hears, changed }

/** The repetition of a captured event for one of its enzymes. */
export interface Again {
  /** The key of the handling. */
  readonly enzyme: string
  /** The id of the enzyme, which outlives a change of its key. */
  readonly entry?: string | undefined
  readonly attempt: number
  /**
   * `gate`: a gate delays a node that it reads, and this is not a new attempt. `stuck`: the previous attempt never ended.
   * `segment`: the next part of a durable run.
   */
  readonly why: "retry" | "stuck" | "gate" | "conflict" | "redelivery" | "segment"
  /** For a conflict: the document that was lost. */
  readonly document: string | undefined
  /** The document at whose queue it was the head when it lost. */
  readonly previous?: string | undefined
  /** The number of consecutive losses. */
  readonly losses: number
  /** The number of attempts that timed out, if any did. */
  readonly timeouts?: number | undefined
  /** The beat that captured the event. */
  readonly captured: number
  /** The lane that the event holds, if it holds one. */
  lane: string | undefined
  /** Whether the lane is released meanwhile: the enzyme allows it, or the attempt's label exceeds the event's. */
  readonly loose: boolean
  /** The number of the segment that a durable run makes next, from 1. */
  readonly segment?: number | undefined
  /** The durable run of the segment. */
  readonly run?: WaitingRun | undefined
  /** The label of the previous attempt, if it is confidential; the repetition depends on it. */
  readonly label?: Label.Label | undefined
}

/** The part of a signal that tells where it comes from. */
type Source = Pick<Signal, "origin" | "depth" | "expected" | "to" | "awaits" | "label" | "own">

/**
 * A signal from an outgoing one.
 */
export const make = (sent: OutgoingSignal, from: Source): Signal => ({
  id: sent.id,
  signal: sent.signal,
  target: sent.target,
  payload: sent.payload,
  // An awaited signal arrives once per watcher, with or without a payload, and one with a waiting run has an end of its own.
  event: from.origin !== "run" || sent.payload !== undefined || from.awaits !== undefined || sent.tells !== undefined,
  origin: from.origin,
  depth: from.depth,
  expected: from.expected,
  pair: pairOf({ ...sent, label: from.label }),
  to: from.to,
  awaits: from.awaits,
  tells: sent.tells,
  label: from.label,
  qos: sent.qos,
  own: from.own
})

/** A label in the form that signals carry: `undefined` for an empty one. */
export const labelOrNone = (label: Label.Label): Label.Label | undefined => label.length === 0 ? undefined : label

/** The signal with a label. */
export const withLabel = (signal: Signal, label: Label.Label | undefined): Signal =>
  label === undefined ? signal : { ...signal, label, pair: pairOf({ ...signal, label }) }

/** The label of a pending run before it reads. */
export const toldBy = ({ again, signal }: Pick<PendingSignal, "again" | "signal">): Label.Label =>
  Label.join(signal.label ?? Label.none, again?.label ?? Label.none)

/** The pair of an attempt. One with a label above its event's is kept apart from events. */
export const pairAgain = ({ again, signal }: Pick<PendingSignal, "again" | "signal">): string =>
  again?.label === undefined || Label.isWithin(again.label, signal.label ?? Label.none)
    ? signal.pair
    : `${signal.pair} ${again.label.join()}`

/**
 * The route to another space, requested by a beat with this clock, under an origin.
 */
export const passage = (space: string, { at, from, since }: {
  readonly at: DueAt | undefined
  readonly since: number
  readonly from?: string | undefined
}): Passage => ({
  space,
  sent: since,
  ...from === undefined ? {} : { from },
  ...at === undefined ? {} : { wait: { at, since } }
})

/**
 * The name of a run: the id of its event, or the receipt of a segment, `<event>#/segment/<k>`.
 */
export const runName = (id: string, segment: number | undefined): string => segment === undefined ? id : `${id}#/segment/${segment}`

/**
 * The source of a signal, from its id.
 */
export const originOf = (id: string): Signal["origin"] => id.startsWith("x.") ? "ingress" : id.includes(".") ? "run" : "caller"

/** The size of a signal beside its texts, in characters. */
const OVERHEAD = 100

/**
 * The size of a signal while it waits and in the beat that captures it, in characters.
 */
export const size = ({ payload, signal, target }: Pick<Signal, "signal" | "target" | "payload">): number =>
  OVERHEAD + (signal?.length ?? 0) + (target?.length ?? 0) + (payload?.text.length ?? 0)

const pairOf = ({ label, signal = "", target = "" }: {
  readonly signal?: string | undefined
  readonly target?: string | undefined
  readonly label?: Label.Label | undefined
}): string =>
  label === undefined ? `${signal} ${target}` : `${signal} ${target} ${label.join()}`

/**
 * The beat expected to capture a signal, from its id. Ids minted in a beat contain it; a caller's do not.
 */
export const expectedBy = (id: string): number | undefined => {
  const [first, second] = id.split(".")
  if (second === undefined) return undefined
  return first === "x" ? Number(second) : Number(first) + 1
}

/**
 * The due time of a wait requested at a beat. A wait of a number of beats needs both the number and the time.
 */
export const dueOf = (at: DueAt, since: { readonly beat: number; readonly clock: number; readonly tempo: number }): Dues.Due => {
  if ("beat" in at) return { beat: at.beat, moment: undefined }
  if ("ms" in at) return { beat: undefined, moment: since.clock + at.ms }
  return Dues.after(at.beats, since)
}

/**
 * A pending signal, with its row in the store.
 */
export class PendingSignal {
  /** Its place among all pending signals of the space, which is its row's number. */
  readonly seq: number
  readonly signal: Signal
  readonly due: Dues.Due | undefined
  readonly again: Again | undefined
  readonly undelivered: DeliveryRefusal | undefined
  /** Whether it was sent again from the dead letters, to be handled as if for the first time. */
  readonly anew: boolean
  /** The clock at which a wait from outside began: no beat has captured it. */
  readonly since: number | undefined
  /** Whether the store has its row. */
  stored = false
  /** The beat that captured it. */
  beat: number | undefined

  constructor(seq: number, signal: Signal, wait: Pick<Partial<PendingSignal>, "due" | "again" | "undelivered" | "anew" | "since"> = {}) {
    this.seq = seq
    this.signal = signal
    this.due = wait.due
    this.again = wait.again
    this.undelivered = wait.undelivered
    this.anew = wait.anew ?? false
    this.since = wait.since
  }

  /** The id of its row: a caller may ask for it, and it groups the attempts of one signal. */
  get id(): string | undefined {
    return this.again !== undefined || this.anew || this.signal.origin !== "run" ? this.signal.id : undefined
  }

  /** Whether it belongs to control, and so runs while the space is paused. */
  get urgent(): boolean {
    return this.signal.qos === "control" || this.signal.awaits !== undefined
  }

  /** Whether it leaves for another space. */
  get leaves(): boolean {
    return this.signal.to !== undefined && this.undelivered === undefined
  }

  /** The row's text, made only for a signal that outlives its group. */
  get text(): string {
    const { awaits, depth, event, id, label, origin, own, payload, qos, signal, target, tells, to } = this.signal
    const { again, anew, due, since, undelivered } = this
    return JSON.stringify({
      id, signal, target, payload: payload?.text, event, origin, depth, to, awaits, tells, label, qos, own, due, again, undelivered,
      anew: anew || undefined,
      since
    })
  }

  /** The same attempt under its enzyme's present key. */
  under(enzyme: string): PendingSignal {
    if (this.again === undefined || this.again.enzyme === enzyme) return this
    const renamed = new PendingSignal(this.seq, this.signal, { due: this.due, again: { ...this.again, enzyme } })
    renamed.stored = this.stored
    return renamed
  }

  /** The same signal with the origin under which it was sent, if it leaves for another space and its row has none. */
  sentUnder(origin: string): PendingSignal {
    const { to } = this.signal
    if (!this.leaves || to === undefined || to.from !== undefined) return this
    return new PendingSignal(this.seq, { ...this.signal, to: { ...to, from: origin } }, this)
  }

  /** The pending signal of a row. */
  static fromRow(row: { readonly seq: number; readonly text: string }): PendingSignal {
    const { again, anew, due, payload, since, undelivered, ...rest } = JSON.parse(row.text)
    const signal =
      { ...rest, payload: payload === undefined ? undefined : Codec.decode(payload), expected: expectedBy(rest.id), pair: pairOf(rest) }
    const pending = new PendingSignal(row.seq, signal, { due, again, undelivered, anew, since })
    pending.stored = true
    return pending
  }
}
