/**
 * Flights: signals from their capture until all their handlings are over.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import type { Entry, Resolution } from "../../registry/Registry.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { OutgoingSignal } from "../../stage/Launch.ts"
import type { Limits } from "./Limits.ts"
import type { Again, Pending, Signal } from "./Signal.ts"
import { size } from "./Signal.ts"

/**
 * How a run ended. Only `tag` and `code` are hashed: messages differ between engines.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | { readonly kind: "ok"; readonly result: Document | undefined }
  | {
    readonly kind: "retry" | "dead" | "fatal"
    readonly tag: string
    readonly code: string
    readonly message: string
    /** The thrown value, for the log alone. */
    readonly thrown?: unknown
    /** When the run can be tried again, in milliseconds since 1970, where a gate holds back what it reads. */
    readonly until?: number | undefined
    /** What the run was told by, where that is confidential and nobody runs it to know. */
    readonly label?: Label | undefined
  }
  | {
    readonly kind: "conflict"
    readonly document: string
    /** Whether the run lost because what it read derives from the document. */
    readonly isDerived?: boolean | undefined
  }

/**
 * What the runs of a space sent and is not over, and what those of one beat add to it.
 *
 * It follows from the beats before and from the agenda, so a beat that is run again admits the same.
 */
export class Backlog {
  /** Signals and characters that wait for their capture or for another attempt. */
  signals = 0
  bytes = 0
  private added = { signals: 0, bytes: 0 }
  private limits: Limits | undefined

  /** Begins a beat. */
  begin(limits: Limits): void {
    this.limits = limits
    this.added = { signals: 0, bytes: 0 }
  }

  /** Takes in what a run sends, all of it; or answers the limit that this would break. */
  admit(emissions: ReadonlyArray<OutgoingSignal>): string | undefined {
    const { backlogBytes = Infinity, backlogSignals = Infinity } = this.limits ?? {}
    const signals = this.added.signals + emissions.length
    const bytes = emissions.reduce((sum, emission) => sum + size(emission), this.added.bytes)
    if (this.signals + signals > backlogSignals) return `${backlogSignals} signals`
    if (this.bytes + bytes > backlogBytes) return `${backlogBytes} characters`
    this.added = { signals, bytes }
    return undefined
  }
}

/** A captured signal, and what is still to be done for it. */
export class Flight {
  readonly signal: Signal
  /** The beat that captured it. */
  readonly captured: number
  /** The lane it holds until it is over, where it is an event. */
  lane: string | undefined
  /** Handlings that are to run again, and those of them that hold the lane meanwhile. */
  open = 0
  strict = 0
  /** What its runs add to, where somebody counts. */
  backlog: Backlog | undefined
  /** Whether nobody took it because the enzymes wait for each other. */
  cycle = false
  /** Whether a rollback dropped it. */
  discarded = false
  /** Handlings that are over. */
  readonly over: Array<Handling> = []

  constructor(signal: Signal, captured: number, lane: string | undefined) {
    this.signal = signal
    this.captured = captured
    this.lane = lane
  }
}

/** One enzyme taking one signal. */
export interface Handling {
  readonly flight: Flight
  /** Names it in receipts. */
  readonly key: string
  /** `undefined` where nobody is there to run any more. */
  readonly entry: Entry | undefined
  readonly attempt: number
  /** Why it runs again, where it does. */
  readonly why: Again["why"] | undefined
  readonly losses: number
  /** How many attempts before this one timed out. */
  readonly timeouts: number
  /** The document whose queue it is the head of, where it lost a conflict before. */
  readonly headOf: string | undefined
  /** The beat it runs in, and its place in that beat's agenda. */
  readonly beat: number
  readonly run: number
  draft: Draft | undefined
  outcome: Outcome | undefined
  /** What it is told by: at first its event and the attempt before, at last what its outcome and its launches carry. */
  label: Label
}

/** What one beat takes from the inbox. */
export interface Taken {
  readonly pending: Pending
  readonly flight: Flight
}

/** What a beat captured of one signal. */
export interface Captured {
  readonly pending: Pending
  readonly flight: Flight
  readonly resolution: Resolution
  /** The runs of this beat that stand for it, in order; those of an equal impulse where it coalesces. */
  readonly handlings: Array<Handling>
}
