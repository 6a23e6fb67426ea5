/**
 * Signals in a space, and what of them waits.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Label from "../../cell/Label.ts"
import * as Codec from "../../cell/Document.ts"
import * as Dues from "../../stage/Due.ts"
import type { At, OutgoingSignal, Qos } from "../../stage/Launch.ts"

/**
 * A signal that was sent: an impulse that coalesces, or an event that is handled exactly once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Signal {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  readonly payload: Document | undefined
  readonly event: boolean
  /** Where it came from: a run, the ingress, or the ingress with a caller's id. */
  readonly origin: "run" | "ingress" | "caller"
  /** How many signals led to this one. */
  readonly depth: number
  /** The beat that captures it unless something holds it up; `undefined` where its id does not tell. */
  readonly expected: number | undefined
  /** Names the pair of signal and target, apart for each label. */
  readonly pair: string
  /** Where it goes, where that is another space. */
  readonly to?: Passage | undefined
  /** The enzyme that awaits it at its target, where a watcher of an operation had it sent. */
  readonly awaits?: string | undefined
  /** What whoever takes it is told by it, where that is confidential. */
  readonly label?: Label.Label | undefined
  /** How a pause and a rollback take it. */
  readonly qos?: Qos | undefined
}

/** Another space, and the wait that a signal has to keep there, however often it is handed over. */
export interface Passage {
  readonly space: string
  readonly wait?: Wait | undefined
}

/** A wait, and the clock of the beat that asked for it, from which its time counts. */
export interface Wait {
  readonly at: At
  readonly since: number
}

/** Why a signal will never be taken by the space that it goes to. */
export interface Undelivered {
  readonly tag: string
  readonly code: string
  readonly message: string
}

/** What is left of an event that was captured, and not handled by all of its enzymes. */
export interface Again {
  /** The key that the handling went by. */
  readonly enzyme: string
  /** The id of the enzyme, which it keeps when its key changes. */
  readonly entry?: string | undefined
  readonly attempt: number
  /** `gate`: what it reads waits for a gate, and this is no attempt of its own. `stuck`: the attempt before never came to an end. */
  readonly why: "retry" | "stuck" | "gate" | "conflict" | "redelivery"
  /** For a conflict: the document that was lost. */
  readonly document: string | undefined
  /** The document whose queue it was the head of when it lost. */
  readonly previous?: string | undefined
  /** How many times in a row it lost. */
  readonly losses: number
  /** How many of its attempts timed out, where any did. */
  readonly timeouts?: number | undefined
  /** The beat that captured the event. */
  readonly captured: number
  /** The lane that the event holds, where it holds one. */
  lane: string | undefined
  /** Whether the lane goes on meanwhile: the enzyme lets it, or the attempt knows more than the event tells. */
  readonly loose: boolean
  /** What the attempt before was told by, where that is confidential: this one is there because of it. */
  readonly label?: Label.Label | undefined
}

/**
 * A signal from what was sent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (sent: OutgoingSignal, from: Pick<Signal, "origin" | "depth" | "expected" | "to" | "awaits" | "label">): Signal => ({
  id: sent.id,
  signal: sent.signal,
  target: sent.target,
  payload: sent.payload,
  // What is awaited comes once for each watcher, with or without a payload.
  event: from.origin !== "run" || sent.payload !== undefined || from.awaits !== undefined,
  origin: from.origin,
  depth: from.depth,
  expected: from.expected,
  pair: pairOf({ ...sent, label: from.label }),
  to: from.to,
  awaits: from.awaits,
  label: from.label,
  qos: sent.qos
})

/** A label as signals carry it: none is nothing. */
export const carried = (label: Label.Label): Label.Label | undefined => label.length === 0 ? undefined : label

/** The signal with a label. */
export const labelled = (signal: Signal, label: Label.Label | undefined): Signal =>
  label === undefined ? signal : { ...signal, label, pair: pairOf({ ...signal, label }) }

/** What a run of something that waits is told by before it reads. */
export const toldBy = ({ again, signal }: Pick<Pending, "again" | "signal">): Label.Label => Label.join(signal.label ?? Label.none, again?.label ?? Label.none)

/** The pair of an attempt: one that knows more than its event tells keeps out of the way of events. */
export const pairAgain = ({ again, signal }: Pick<Pending, "again" | "signal">): string =>
  again?.label === undefined || Label.isWithin(again.label, signal.label ?? Label.none) ? signal.pair : `${signal.pair} ${again.label.join()}`

/**
 * The way to another space, as a beat with this clock asks for it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const passage = (space: string, at: At | undefined, since: number): Passage => at === undefined ? { space } : { space, wait: { at, since } }

/**
 * Where a signal came from, as its id tells.
 *
 * @category getters
 * @since 0.1.0
 */
export const originOf = (id: string): Signal["origin"] => id.startsWith("x.") ? "ingress" : id.includes(".") ? "run" : "caller"

/** What a signal costs beside its texts, in characters. */
const OVERHEAD = 100

/**
 * What a signal costs while it waits and in the beat that captures it, in characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const size = ({ payload, signal, target }: Pick<Signal, "signal" | "target" | "payload">): number =>
  OVERHEAD + (signal?.length ?? 0) + (target?.length ?? 0) + (payload?.text.length ?? 0)

const pairOf = ({ label, signal = "", target = "" }: { readonly signal?: string | undefined; readonly target?: string | undefined; readonly label?: Label.Label | undefined }): string =>
  label === undefined ? `${signal} ${target}` : `${signal} ${target} ${label.join()}`

/**
 * The beat that an id expects to capture its signal: ids that are minted in a beat tell, a caller's do not.
 *
 * @category getters
 * @since 0.1.0
 */
export const expectedBy = (id: string): number | undefined => {
  const [first, second] = id.split(".")
  if (second === undefined) return undefined
  return first === "x" ? Number(second) : Number(first) + 1
}

/**
 * When something asked for at a beat is due: the wait of a number of beats needs both the number and the time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const due = (at: At, since: { readonly beat: number; readonly clock: number; readonly tempo: number }): Dues.Due => {
  if ("beat" in at) return { beat: at.beat, moment: undefined }
  if ("ms" in at) return { beat: undefined, moment: since.clock + at.ms }
  return Dues.after(at.beats, { ...since, now: since.clock })
}

/**
 * A signal that waits for its beat, with its row in the store.
 *
 * @category models
 * @since 0.1.0
 */
export class Pending {
  /** Its place among all that waits in the space, which is its row's number. */
  readonly seq: number
  readonly signal: Signal
  readonly due: Dues.Due | undefined
  readonly again: Again | undefined
  readonly undelivered: Undelivered | undefined
  /** Whether it was sent again from the dead letters, to be taken as if for the first time. */
  readonly anew: boolean
  /** Whether the store has its row. */
  stored = false
  /** The beat that captured it. */
  beat: number | undefined

  constructor(seq: number, signal: Signal, wait: Pick<Partial<Pending>, "due" | "again" | "undelivered" | "anew"> = {}) {
    this.seq = seq
    this.signal = signal
    this.due = wait.due
    this.again = wait.again
    this.undelivered = wait.undelivered
    this.anew = wait.anew ?? false
  }

  /** By which its row is found: a caller may ask for it, and attempts of one signal belong together. */
  get id(): string | undefined {
    return this.again !== undefined || this.anew || this.signal.origin !== "run" ? this.signal.id : undefined
  }

  /** Whether it has to do with control, and so runs while the gate is closed. */
  get urgent(): boolean {
    return this.signal.qos === "control" || this.signal.awaits !== undefined
  }

  /** Whether it is on its way to another space. */
  get leaves(): boolean {
    return this.signal.to !== undefined && this.undelivered === undefined
  }

  /** The row's text, made only for what outlives its group. */
  get text(): string {
    const { awaits, depth, event, id, label, origin, payload, qos, signal, target, to } = this.signal
    const { again, anew, due, undelivered } = this
    return JSON.stringify({ id, signal, target, payload: payload?.text, event, origin, depth, to, awaits, label, qos, due, again, undelivered, anew: anew || undefined })
  }

  /** The same attempt under the key that its enzyme has now. */
  under(enzyme: string): Pending {
    if (this.again === undefined || this.again.enzyme === enzyme) return this
    const renamed = new Pending(this.seq, this.signal, { due: this.due, again: { ...this.again, enzyme } })
    renamed.stored = this.stored
    return renamed
  }

  /** The pending signal that a row stands for. */
  static fromRow(row: { readonly seq: number; readonly text: string }): Pending {
    const { again, anew, due, payload, undelivered, ...rest } = JSON.parse(row.text)
    const signal = { ...rest, payload: payload === undefined ? undefined : Codec.decode(payload), expected: expectedBy(rest.id), pair: pairOf(rest) }
    const pending = new Pending(row.seq, signal, { due, again, undelivered, anew })
    pending.stored = true
    return pending
  }
}
