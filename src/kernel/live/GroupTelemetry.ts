/**
 * The telemetry of an open space, reported once per group commit: a span, and the sums of its beats.
 *
 * @module
 */
import type { Span } from "effect/Tracer"
import type { Series, Telemetry } from "../../diagnostic/Telemetry.ts"
import type { Beat } from "../beat/step/Commit.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import * as RunEnds from "../model/RunEnds.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

/** The members of the state of a space that its telemetry reports. */
type State = Pick<LiveState, "departures" | "inbox" | "space" | "telemetry">

/** A group, with the sums of its durable beats. */
interface Group {
  readonly since: bigint
  readonly span: Span | undefined
  first: number
  last: number
  beats: number
  signals: number
  readonly ends: RunEnds.RunEnds
}

/** The series that each group changes. */
interface GroupSeries {
  readonly beats: Series
  readonly dead: Series
  readonly done: Series
  readonly leaving: Series
  readonly runs: Readonly<Record<keyof RunEnds.RunEnds, Series>>
  readonly signals: Series
  readonly waiting: Series
}

const seriesOf = (telemetry: Telemetry): GroupSeries => {
  const runs = (kind: keyof RunEnds.RunEnds): Series => telemetry.series("systole.runs", kind)
  return {
    beats: telemetry.series("systole.beats"),
    dead: telemetry.series("systole.dead_letters"),
    done: telemetry.series("systole.group.duration", "ok"),
    leaving: telemetry.series("systole.outbox.size"),
    runs: {
      ok: runs("ok"), waits: runs("waits"), conflict: runs("conflict"), retry: runs("retry"), dead: runs("dead"), fatal: runs("fatal")
    },
    signals: telemetry.series("systole.signals"),
    waiting: telemetry.series("systole.queue.size")
  }
}

/** The telemetry of one open space. */
export class GroupTelemetry {
  private readonly state: State
  private readonly telemetry: Telemetry
  private readonly series: GroupSeries
  private group: Group | undefined
  /** The lengths of queues that the gauges contain for this space. */
  private waiting = 0
  private leaving = 0

  constructor(state: State) {
    this.state = state
    this.telemetry = state.telemetry
    this.series = seriesOf(state.telemetry)
    this.telemetry.add("systole.spaces", 1)
    this.measure()
  }

  /** A group begins. */
  begins(): void {
    if (!this.telemetry.isHeard) return
    const span = this.telemetry.isTraced ? this.span() : undefined
    this.group = { since: this.telemetry.now(), span, first: 0, last: 0, beats: 0, signals: 0, ends: RunEnds.none() }
  }

  /** A beat is durable. */
  published({ ends, completed, number }: Beat): void {
    const { group } = this
    if (group === undefined) return
    if (group.beats++ === 0) group.first = number
    group.last = number
    group.signals += completed.length
    RunEnds.add(group.ends, ends)
  }

  /** A flush is done, and its waiters have been told. A flush without beats only stores signals. */
  flushed(): void {
    const { group, series, telemetry } = this
    if (group === undefined || group.beats === 0) return
    this.group = undefined
    const { beats, ends, signals, since, span } = group
    series.done.add(telemetry.since(since))
    series.beats.add(beats)
    if (signals > 0) series.signals.add(signals)
    for (const kind of RunEnds.kinds) if (ends[kind] > 0) series.runs[kind].add(ends[kind])
    const dead = ends.dead + ends.fatal
    if (dead > 0) series.dead.add(dead)
    this.measure()
    if (span === undefined) return
    this.describe(span, group)
    telemetry.end(span)
  }

  /** The space stopped, or is closed. */
  stopped(error: SpaceStopped | undefined): void {
    // A waiter of the flush may close the space.
    if (error === undefined) this.flushed()
    const { group, series, telemetry } = this
    this.group = undefined
    telemetry.add("systole.spaces", -1)
    series.waiting.add(-this.waiting)
    series.leaving.add(-this.leaving)
    if (group === undefined || error === undefined) return
    telemetry.add("systole.group.duration", telemetry.since(group.since), "failed")
    if (group.span === undefined) return
    this.describe(group.span, group)
    telemetry.end(group.span, error.code)
  }

  private span(): Span | undefined {
    return this.telemetry.span("systole.group", { attributes: { "systole.space": this.state.space } })
  }

  private describe(span: Span, { beats, ends, first, last, signals }: Group): void {
    if (beats > 0) {
      span.attribute("systole.beat.first", first)
      span.attribute("systole.beat.last", last)
    }
    span.attribute("systole.beats", beats)
    span.attribute("systole.signals", signals)
    for (const kind of RunEnds.kinds) if (ends[kind] > 0) span.attribute(`systole.runs.${kind}`, ends[kind])
  }

  /** Brings the gauges to the present lengths of the queues. */
  private measure(): void {
    const { series, state: { departures, inbox } } = this
    const waiting = inbox.volume.signals + inbox.backlog.signals
    const leaving = departures.size
    if (waiting !== this.waiting) series.waiting.add(waiting - this.waiting)
    if (leaving !== this.leaving) series.leaving.add(leaving - this.leaving)
    this.waiting = waiting
    this.leaving = leaving
  }
}
