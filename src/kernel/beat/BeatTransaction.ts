/**
 * The transaction of one beat: its stage, and its changes besides documents.
 *
 * Commands, ledgers and the merge write to it, and to no other part of the beat.
 *
 * @module
 */
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import * as Labels from "../../stage/Labels.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Savepoint } from "../../stage/Changes.ts"
import type { SpaceClock } from "../../stage/SpaceClock.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { BindingTable } from "../../registry/Bindings.ts"
import type { BeatStart } from "../model/BeatStart.ts"
import type { BeatSignal } from "../journal/SentLine.ts"
import type { SpaceMode } from "../model/SpaceMode.ts"
import type * as Signal from "../model/Signal.ts"
import { BeatBindings } from "./BeatBindings.ts"

/** The bit of `used` for the tempo; the bits above it stand for the inputs of ledgers. */
const TEMPO = 1

/** The bit of `used` for the input of a ledger, by its place in the list. */
const inputBit = (place: number): number => 2 << place

/** The parts of the state of a space that a beat may change. */
export interface Before {
  readonly bindings: BindingTable
  readonly mode: SpaceMode
  readonly clock: SpaceClock
  readonly hash: (data: string | Uint8Array) => string
}

/**
 * The clock of a beat. A read of the tempo is noted, so that the journal has the tempo. A class, because an object literal
 * with a getter costs the engine a shape for each beat.
 */
class TrackedClock implements BeatClock {
  readonly beat: number
  readonly semantics: number
  readonly clock: number
  readonly date: number
  readonly seed: string
  readonly hash: BeatClock["hash"]
  private readonly millis: number
  private readonly transaction: BeatTransaction

  constructor(transaction: BeatTransaction, { beat, clock, seed, semantics, tempo }: BeatStart, hash: BeatClock["hash"]) {
    this.beat = beat
    this.semantics = semantics
    this.clock = clock
    this.date = clock - transaction.clock.shifted
    this.seed = seed
    this.hash = hash
    this.millis = tempo
    this.transaction = transaction
  }

  get tempo(): number {
    this.transaction.used |= TEMPO
    return this.millis
  }
}

/**
 * The changes of one beat.
 */
export class BeatTransaction {
  readonly stage: Stage
  readonly moment: BeatClock
  /** The labels of the space, if it has any. */
  readonly labels: Labels.Labels | undefined
  readonly bindings: BeatBindings
  /** The mode of the space, as the newest command left it. */
  mode: SpaceMode
  /** The clock of the space, as the newest command left it for the next beat. */
  clock: SpaceClock
  /** The captured parts that the results depend on, as bits. Only these are journaled. */
  used = 0
  /** Diagnostics, written at the commit. */
  readonly diagnostics: Array<Diagnostic> = []
  /** The signals that the beat itself sent. */
  readonly sent: Array<BeatSignal> = []
  /** Durable runs with a new result, by their operations; those of the capture are taken when it ends. */
  resumed: Array<string> = []
  /** The signals that the beat queues. */
  readonly queued: Array<Signal.PendingSignal> = []
  /** The number of sent signals that no enzyme awaits. */
  private count = 0

  /** The label rules of this beat are staged before. */
  constructor(stage: Stage, begun: BeatStart, { bindings, clock, hash, mode }: Before) {
    this.stage = stage
    this.labels = Labels.read(stage.visible(Labels.ADDRESS.key))
    this.mode = mode
    this.clock = clock
    this.moment = new TrackedClock(this, begun, hash)
    this.bindings = new BeatBindings(bindings, stage, begun.beat)
  }

  /** The number of signals that the beat itself sent and that no enzyme awaits. */
  get unawaited(): number {
    return this.count
  }

  /** Sends a signal of the beat itself. */
  send(sent: BeatSignal, pending: Signal.PendingSignal): void {
    this.sent.push(sent)
    this.queued.push(pending)
    if (sent.enzyme === undefined) this.count++
  }

  /** Notes that a result depends on the captured input of a ledger. */
  useInput(place: number): void {
    this.used |= inputBit(place)
  }

  isUsed(place: number): boolean {
    return (this.used & inputBit(place)) !== 0
  }

  get usesInput(): boolean {
    return this.used >= inputBit(0)
  }

  get usesTempo(): boolean {
    return (this.used & TEMPO) !== 0
  }

  /**
   * Makes a savepoint of the capture transaction, over a draft of it. The stage itself and the binding lists are not covered:
   * they are written when a command can no longer be refused.
   */
  savepoint(draft: Draft): Savepoint {
    const { clock, count, diagnostics, queued, mode, sent, used } = this
    const [reported, told, waiting] = [diagnostics.length, sent.length, queued.length]
    const writes = draft.savepoint()
    return {
      keep: writes.keep,
      restore: () => {
        writes.restore()
        diagnostics.length = reported
        sent.length = told
        queued.length = waiting
        this.count = count
        this.mode = mode
        this.clock = clock
        this.used = used
      }
    }
  }
}
