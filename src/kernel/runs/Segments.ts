/**
 * Durable runs as series of segments, with their bodies in memory.
 *
 * @module
 */
import * as Cells from "../../durable/Cells.ts"
import * as RunLedger from "../../durable/Ledger.ts"
import { Log } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { Residents } from "../../durable/Residents.ts"
import { RunAbsent, RunState } from "../../durable/RunError.ts"
import type { Stage } from "../../stage/Stage.ts"
import * as InFlights from "../model/InFlight.ts"
import type { Taken, Waits } from "../model/InFlight.ts"
import { Pending } from "../model/Signal.ts"
import type { DurableOptions, DurableRuns, RunsOfSpaces } from "../beat/DurableRuns.ts"
import * as EventEnds from "./EventEnds.ts"
import * as Hearing from "./Hearing.ts"
import * as ReadyRuns from "./ReadyRuns.ts"
import * as RunRetry from "./RunRetry.ts"
import * as Segment from "./Segment.ts"
import * as SegmentCommit from "./SegmentCommit.ts"
import * as SegmentReceipts from "./SegmentReceipts.ts"
import { RunAdvice } from "./StaleRisks.ts"

/** The durable runs of a space. */
class Segments implements DurableRuns {
  readonly hear = Hearing.capture
  readonly endedWithout = Segment.endedWithout
  readonly committed = ReadyRuns.committed
  readonly between = SegmentCommit.between
  readonly hearBetween = SegmentCommit.hear
  readonly adopt = SegmentCommit.adopt
  readonly discard = SegmentCommit.discard
  strayed: DurableRuns["strayed"]
  private readonly options: DurableOptions
  private readonly hash: (text: string) => string
  private readonly residents: Residents
  private readonly risks: RunAdvice | undefined

  constructor(options: DurableOptions, hash: (text: string) => string) {
    const { report, resident, space } = options
    this.options = options
    this.hash = hash
    this.residents = new Residents(resident)
    this.risks = report === undefined ? undefined : new RunAdvice(space, report)
  }

  captured(stage: Stage, resumed: ReadonlySet<string>, taken: ReadonlyArray<Taken>): void {
    ReadyRuns.captured(stage, resumed, { hash: this.hash, taken })
  }

  readonly run: DurableRuns["run"] = (handling, draft, state) => {
    const { residents, risks } = this
    return Segment.run(handling, draft, { state, residents, risks })
  }

  readonly wait: DurableRuns["wait"] = (handling, waits, merge) => {
    const { captured: { moment, stage }, signals } = merge
    SegmentCommit.wait(handling, waits, merge)
    const isHeard = Hearing.begin(handling, waits, { moment, signals, stage })
    this.keep(waits)
    return isHeard
  }

  /** Keeps a body in memory, which has to stand still until its next segment. */
  private keep({ continuation, oid, segment }: Waits): void {
    this.residents.keep(oid, continuation)
    continuation.tx.whenStray((stray) => {
      const { last, reason } = stray
      const place = this.options.placeOf(stray)
      const at = place === undefined ? "" : ` at ${place}`
      const command: RunLedger.Straying = { verb: "stray", oid, segment: segment + 1, stray: { reason: `${reason}${at}`, last } }
      this.strayed?.({ kind: "ledger", ledger: RunLedger.runs.name, command })
    })
  }

  readonly finish: DurableRuns["finish"] = (handling, merge) => {
    const isRun = InFlights.isDurable(handling, merge.captured.moment) || SegmentCommit.isAnew(handling, merge)
    if (isRun) SegmentCommit.finish(handling, merge)
    else SegmentCommit.leave(handling, merge)
  }

  readonly die: DurableRuns["die"] = (handling, code, merge) => {
    const oid = SegmentCommit.die(handling, code, merge)
    if (oid !== undefined) this.residents.drop(oid)
  }

  readonly prepare: DurableRuns["prepare"] = (retry) => {
    try {
      return RunRetry.prepare(retry)
    } catch (error) {
      if (error instanceof RunAbsent || error instanceof RunState) return error
      throw error
    }
  }

  readonly segments: DurableRuns["segments"] = (store, receipt) => SegmentReceipts.find(store, receipt, this.hash)

  readonly whole: DurableRuns["whole"] = (pending, store) => {
    const { again, due, seq, signal } = pending
    if (again?.run?.changed === undefined) return pending
    const { changed: _, ...run } = again.run
    const hears = Log.of(Cells.stepsOf(run.oid, SegmentReceipts.reader(store))).pairs.from(0)
    const found = new Pending(seq, signal, { due, again: { ...again, run: { ...run, hears } } })
    found.stored = true
    return found
  }

  readonly noted: DurableRuns["noted"] = (store) => Array.from(ReadyRuns.all(store), ([oid, note]) => [oid, Note.isEnd(note)])

  note(oid: string, id: string): void {
    this.residents.note(oid, id)
  }

  readonly tell: DurableRuns["tell"] = (flight, merge) => {
    const oid = EventEnds.tell(flight, merge)
    if (oid !== undefined) this.residents.note(oid, flight.signal.id)
  }

  readonly fresh: DurableRuns["fresh"] = () => new Segments({ ...this.options, report: undefined }, this.hash)
}

/**
 * The durable runs of the slice `durable`.
 */
export const runs: RunsOfSpaces = {
  check: () => {},
  make: (options, hash) => new Segments(options, hash)
}
