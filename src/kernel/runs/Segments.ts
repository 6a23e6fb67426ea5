/**
 * The executor of durable runs: their segments, with their bodies in memory.
 *
 * @module
 */
import * as Cells from "../../durable/Cells.ts"
import type { ContinuationCache } from "../../durable/ContinuationCache.ts"
import * as RunLedger from "../../durable/Ledger.ts"
import { Log } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { CODE_MISSING } from "../../durable/RunCode.ts"
import { RunAbsent, RunState } from "../../durable/RunError.ts"
import { CAPTURE, type Stage } from "../../stage/Stage.ts"
import * as LabelCheck from "../beat/step/LabelCheck.ts"
import * as InFlights from "../model/InFlight.ts"
import type { CapturedSignal, Handling, TakenSignal, Waits } from "../model/InFlight.ts"
import { pairsOf, PendingSignal, type WaitingRun } from "../model/Signal.ts"
import type { DurableRuns, HeardSignals, RunExecutor, RunMerge, RunSpace } from "../beat/RunExecutor.ts"
import { BeatSignals } from "./BeatSignals.ts"
import * as EventEnds from "./EventEnds.ts"
import * as Hearing from "./Hearing.ts"
import * as RunRetry from "./RunRetry.ts"
import * as Segment from "./Segment.ts"
import * as SegmentCommit from "./SegmentCommit.ts"
import * as SegmentReceipts from "./SegmentReceipts.ts"
import { StaleRisks } from "./StaleRisks.ts"

/** The durable runs of a space. */
class Segments implements RunExecutor {
  readonly discard = SegmentCommit.discard
  readonly run: RunExecutor["run"]
  readonly wait: RunExecutor["wait"]
  private readonly space: RunSpace
  private readonly bodies: ContinuationCache
  /** The captured signals of a beat, for its runs that come to hear them. */
  private readonly signals = new WeakMap<ReadonlyArray<CapturedSignal>, BeatSignals>()

  constructor(space: RunSpace) {
    const { ledgers, report, states } = space
    this.space = space
    this.bodies = ledgers.stateOf(RunLedger.runs, states)
    const risks = report === undefined ? undefined : new StaleRisks(space.space, report)
    this.run = Segment.executor({ bodies: this.bodies, risks })
    this.wait = SegmentCommit.waitOf({ signalsOf: (merge) => this.signalsOf(merge), keep: (waits) => this.keep(waits) })
  }

  readonly hear: RunExecutor["hear"] = (signals, transaction, input) => {
    const { mode, stage } = transaction
    const heard = Hearing.capture(signals, transaction, input)
    const ended: HeardSignals["ended"] = (event, key) => Segment.endedWithout(Cells.oidOf(event, key, this.space.hash), stage)
    if (transaction.resumed.length === 0) return { taken: signals, heard, ended }
    const oids = new Set(transaction.resumed)
    transaction.resumed = []
    const isEnd = (oid: string): boolean => Segment.endedWithout(oid, stage) !== undefined
    const segments = [...oids].flatMap((oid) => input.resume(oid, { mode, isEnd: isEnd(oid) }))
    // After the attempts and before new signals.
    const attempts = signals.findIndex(({ pending }) => pending.again === undefined)
    const taken = attempts < 0 ? [...signals, ...segments] : signals.toSpliced(attempts, 0, ...segments)
    this.mark(stage, oids, taken)
    return { taken, heard, ended }
  }

  /** Marks the runs with a captured result and without a segment in this beat. */
  private mark(stage: Stage, resumed: ReadonlySet<string>, taken: ReadonlyArray<TakenSignal>): void {
    const present = new Set(taken.map(({ flight, pending: { again } }) =>
      again?.segment === undefined ? "" : again.run?.oid ?? Cells.oidOf(flight.signal.id, again.enzyme, this.space.hash)))
    Note.mark(stage, [...resumed].filter((oid) => !present.has(oid)), CAPTURE)
  }

  readonly retry: RunExecutor["retry"] = (handling, merge) => {
    const { outcome } = handling
    SegmentCommit.adopt(handling, merge)
    if (outcome?.kind === "retry" && outcome.code === CODE_MISSING) return this.held(handling)
    return InFlights.isDurable(handling, merge.captured.moment) ? this.between(handling, merge) : undefined
  }

  /** The run of a handling that waits for its module. */
  private held({ flight, key, waiting }: Handling): WaitingRun {
    const oid = Cells.oidOf(flight.signal.id, key, this.space.hash)
    return { ...pairsOf(waiting ?? { hears: [] }), oid, dues: [], isHeld: true }
  }

  /** The run of a handling that is attempted again, if it hears signals meanwhile that its log does not have. */
  private between(handling: Handling, merge: RunMerge): WaitingRun | undefined {
    const found = SegmentCommit.between(handling, merge)
    if (found === undefined) return undefined
    LabelCheck.checkHeard(merge.captured.transaction, handling, found.begun.map(([, target]) => target))
    SegmentCommit.hear(handling, found, { merge, signals: this.signalsOf(merge) })
    return found.run
  }

  private signalsOf({ captured: { inputs } }: RunMerge): BeatSignals {
    const found = this.signals.get(inputs) ?? new BeatSignals(inputs)
    this.signals.set(inputs, found)
    return found
  }

  /** Keeps a body in memory, which has to stand still until its next segment. */
  private keep({ continuation, oid, segment }: Waits): void {
    const { bodies, space: { placeOf, resident } } = this
    bodies.keep(oid, continuation, resident)
    continuation.tx.whenStray((stray) => {
      const { last, reason } = stray
      const place = placeOf(stray)
      const at = place === undefined ? "" : ` at ${place}`
      bodies.strayed?.({ oid, segment: segment + 1, stray: { reason: `${reason}${at}`, last } })
    })
  }

  readonly finish: RunExecutor["finish"] = (handling, merge) => {
    const isRun = InFlights.isDurable(handling, merge.captured.moment) || SegmentCommit.isAnew(handling, merge)
    if (isRun) SegmentCommit.finish(handling, merge)
    else SegmentCommit.leave(handling, merge)
  }

  readonly die: RunExecutor["die"] = (handling, code, merge) => {
    const oid = SegmentCommit.die(handling, code, merge)
    if (oid !== undefined) this.bodies.drop(oid)
  }

  readonly track: RunExecutor["track"] = (flight, merge) => {
    const oid = EventEnds.tell(flight, merge)
    if (oid !== undefined) this.bodies.note(oid, flight.signal.id)
  }

  readonly forget: RunExecutor["forget"] = () => this.bodies.clear()

  readonly prepare: RunExecutor["prepare"] = (retry) => {
    try {
      return RunRetry.prepare(retry)
    } catch (error) {
      if (error instanceof RunAbsent || error instanceof RunState) return error
      throw error
    }
  }
}

const whole: DurableRuns["whole"] = (pending, store) => {
  const { again, due, seq, signal } = pending
  if (again?.run?.changed === undefined) return pending
  const { changed: _, ...run } = again.run
  const hears = Log.of(Cells.stepsOf(run.oid, SegmentReceipts.reader(store))).pairs.from(0)
  const found = new PendingSignal(seq, signal, { due, again: { ...again, run: { ...run, hears } } })
  found.stored = true
  return found
}

/** The durable runs of the slice `durable`. */
export const runs: DurableRuns = {
  check: () => {},
  executor: (space) => new Segments(space),
  segments: SegmentReceipts.find,
  whole,
  noted: (store) => Array.from(Note.all(store), ([oid, note]) => [oid, Note.isEnd(note)])
}
