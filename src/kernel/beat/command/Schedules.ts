/**
 * The schedules of an open space: when the next one is due, and the commands that plan them.
 *
 * The plans are cells. Between two due times a beat compares two numbers. While the event of a schedule is open, its due times wait:
 * an enzyme that is slower than its interval has one event at a time. Commands are captured input, so a replay needs no list of events.
 *
 * @module
 */
import * as Document from "../../../cell/Document.ts"
import type { Entry, Enzymes } from "../../../registry/Registry.ts"
import * as Scheduling from "../../../registry/Scheduling.ts"
import * as Write from "../../../stage/write/Write.ts"
import type { Draft } from "../../../stage/Draft.ts"
import type { SpaceClock } from "../../../stage/SpaceClock.ts"
import * as Timetable from "../../../time/Schedule.ts"
import type { QueuedCommand } from "../../model/Command.ts"
import type { Documents } from "../../model/Documents.ts"
import type { InFlight } from "../../model/InFlight.ts"
import type { Settings } from "../../model/Limits.ts"
import * as SchedulePlan from "../../model/SchedulePlan.ts"
import * as Signal from "../../model/Signal.ts"
import * as SpaceMode from "../../model/SpaceMode.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"

/** The parts of the state of a space that its schedules follow from. */
interface State {
  readonly space: string
  readonly clock: SpaceClock
  readonly documents: Pick<Documents, "children" | "read">
  readonly enzymes: Enzymes
  readonly mode: SpaceMode.SpaceMode
  readonly settings: Settings
}

/** A schedule of the space: its plan, if it has one, and its enzyme, unless that is gone. */
interface Scheduled {
  readonly name: string
  readonly plan: SchedulePlan.SchedulePlan | undefined
  readonly enzyme: Entry["enzyme"] | undefined
  /** Whether the enzyme is absent for the time being, so that its plan stays. */
  readonly isHeld: boolean
}

/** The part of a committed beat from which the open events follow. */
export interface CommittedSignals {
  /** The events whose last handling ended in it. */
  readonly completed: ReadonlyArray<InFlight>
  /** The signals that it sent, dead letters that are sent again among them. */
  readonly queued: ReadonlyArray<Signal.PendingSignal>
}

const none: ReadonlyArray<QueuedCommand> = []
const ignored = (): void => {}

/**
 * The schedules of one space.
 */
export class Schedules {
  private version: number | undefined
  private shifted = 0
  private all: ReadonlyArray<Scheduled> = []
  /** The first due time by the clock of the space; `Infinity` for none. */
  private first = Infinity
  /** The ids of the events without an end, each with its signal and its due time as one name. */
  private readonly open = new Map<string, string>()

  /** Whether a beat at this clock has a plan to make or an event to send. */
  isNow(state: State, clock: number): boolean {
    return !SpaceMode.waits(state.mode) && this.nextOf(state) <= clock
  }

  /** The time by the clock of the space at which a beat has something to do; `undefined` for none. */
  nextDue(state: State): number | undefined {
    const next = SpaceMode.waits(state.mode) ? Infinity : this.nextOf(state)
    return next === Infinity ? undefined : next
  }

  /** The commands of a beat at this clock, at most as many as it captures signals. */
  commands(state: State, clock: number): ReadonlyArray<QueuedCommand> {
    if (!this.isNow(state, clock)) return none
    const date = clock - state.clock.shifted
    const skipped = state.mode.dropped?.until ?? -Infinity
    const at = { date, shifted: state.clock.shifted, kept: state.settings.limits.scheduleMillis, skipped }
    const commands: Array<SchedulePlan.ScheduleCommand> = []
    for (const scheduled of this.all) {
      const command = this.waits(scheduled, at.shifted) ? undefined : commandOf(scheduled, at)
      if (command !== undefined) commands.push(command)
      if (commands.length >= state.settings.limits.captureSignals) break
    }
    // The plans are read again when the beat is committed, or repeated.
    this.version = undefined
    return commands.map((command) => ({ command, answer: ignored }))
  }

  /** Notes a pending signal of a recovered space. */
  restore(signal: Signal.Signal): void {
    const name = SchedulePlan.nameIn(signal)
    if (name === undefined || this.open.has(signal.id)) return
    this.open.set(signal.id, name)
    this.version = undefined
  }

  /** A beat is committed. */
  committed({ completed, queued }: CommittedSignals): void {
    for (const { signal } of this.open.size === 0 ? [] : completed) {
      if (this.open.delete(signal.id)) this.version = undefined
    }
    for (const { signal } of queued) this.restore(signal)
  }

  /** Whether the due times of a schedule wait for the end of its newest event. */
  private waits(scheduled: Scheduled, shifted: number): boolean {
    const { enzyme, plan } = scheduled
    return this.open.size > 0 && enzyme !== undefined && plan?.last !== undefined &&
      this.isOpen(plan, SchedulePlan.nameOf(enzyme.query, plan.last)) && isCurrent(scheduled, shifted)
  }

  /** Whether the newest event of a plan has no end. */
  private isOpen({ event }: SchedulePlan.SchedulePlan, name: string): boolean {
    return event === undefined ? [...this.open.values()].includes(name) : this.open.has(event)
  }

  private nextOf(state: State): number {
    const { clock: { shifted }, enzymes: { scheduleVersion }, settings: { limits: { scheduleMillis } } } = state
    if (this.version !== scheduleVersion || this.shifted !== shifted) {
      this.version = scheduleVersion
      this.shifted = shifted
      this.all = scheduledIn(state)
      const at = { shifted, kept: scheduleMillis }
      this.first = Math.min(...this.all.map((scheduled) => this.waits(scheduled, shifted) ? Infinity : nextOf(scheduled, at)))
    }
    return this.first
  }
}

/** The schedules of a space by name: those of its enzymes, and those with a plan. */
const scheduledIn = ({ documents, enzymes, settings, space }: State): ReadonlyArray<Scheduled> => {
  const planned = documents.children("space", SchedulePlan.FOLDER)
  const { first = Scheduling.FIRST } = settings
  const own = enzymes.all().filter(({ enzyme: { schedule } }) => schedule !== undefined && Scheduling.isIn(schedule, space, first))
  if (planned.length === 0 && own.length === 0) return []
  const byName = new Map<string, Entry>()
  // Several of one name are told apart by their queries, in an order that stays when one of them is registered anew.
  for (const entry of own.toSorted((a, b) => a.id < b.id ? -1 : 1)) byName.set(byName.has(entry.name) ? entry.id : entry.name, entry)
  const held = new Set(enzymes.leftOut().flatMap(({ id, name }) => [id, name]))
  return [...new Set([...byName.keys(), ...planned])].sort().map((name) => ({
    name,
    plan: SchedulePlan.read(documents.read(SchedulePlan.addressOf(name).key)),
    enzyme: byName.get(name)?.enzyme,
    isHeld: held.has(name)
  }))
}

/** Whether the plan is that of the schedule, at the present dates. */
const isCurrent = ({ enzyme, plan }: Scheduled, shifted: number): boolean =>
  plan !== undefined && enzyme?.schedule !== undefined && plan.schedule === Timetable.textOf(enzyme.schedule) &&
  (plan.shifted ?? 0) === shifted

/** The time by the clock of the space at which a schedule needs a beat. */
const nextOf = (scheduled: Scheduled, { kept, shifted }: Pick<At, "kept" | "shifted">): number => {
  const { enzyme, isHeld, plan } = scheduled
  if (enzyme === undefined) return isHeld ? Infinity : dropOf(plan, kept) + shifted
  return isCurrent(scheduled, shifted) ? (plan?.next ?? Infinity) + shifted : -Infinity
}

/** The date at which the plan of an absent enzyme is dropped. A deployment may lack the enzyme for a while. */
const dropOf = (plan: SchedulePlan.SchedulePlan | undefined, kept: number): number =>
  plan?.next === undefined ? -Infinity : plan.next + kept

/** The date of a beat, the milliseconds by which the clock is ahead of it, and those for which the plan of an absent enzyme is kept. */
interface At {
  readonly date: number
  readonly shifted: number
  readonly kept: number
  /** The clock up to which a release dropped due times. */
  readonly skipped: number
}

/** The command that a schedule needs; `undefined` for none. */
const commandOf = (scheduled: Scheduled, { date, kept, shifted, skipped }: At): SchedulePlan.ScheduleCommand | undefined => {
  const { enzyme, isHeld, name, plan } = scheduled
  const kind = "schedule" as const
  if (enzyme?.schedule === undefined) {
    return isHeld || date < dropOf(plan, kept) ? undefined : { kind, enzyme: name, plan: undefined, event: undefined }
  }
  const schedule = Timetable.textOf(enzyme.schedule)
  const isKept = isCurrent(scheduled, shifted)
  const due = isKept ? plan?.next : undefined
  if (isKept && (due === undefined || due > date)) return undefined
  const next = Timetable.next(enzyme.schedule, { now: date, from: due ?? date })
  const last = due ?? plan?.last
  return {
    kind,
    enzyme: name,
    plan: { schedule, ...next !== undefined && { next }, ...last !== undefined && { last }, ...shifted !== 0 && { shifted } },
    event: due === undefined || due + shifted <= skipped ? undefined : { signal: enzyme.query, due, named: true }
  }
}

/** The capture in which a command is executed. */
interface Capture {
  readonly draft: Draft
  readonly transaction: BeatTransaction
  readonly state: { readonly number: () => number }
}

/**
 * Writes a plan, and sends the event that is due.
 */
export const execute = ({ enzyme, event, plan }: SchedulePlan.ScheduleCommand, { draft, state, transaction }: Capture): void => {
  const { beat } = transaction.moment
  const id = SchedulePlan.idOf(beat, transaction.unawaited)
  const named = event?.named === true ? { event: id } : {}
  draft.operate([Write.set(SchedulePlan.addressOf(enzyme), plan && SchedulePlan.value({ ...plan, ...named }))])
  if (event === undefined) return
  const { due, signal } = event
  const payload: Scheduling.ScheduledPayload = { due, ...plan?.next !== undefined && { next: plan.next } }
  const sent = { id, signal, target: undefined, payload: Document.encode(payload), at: undefined }
  const from = { origin: "run", depth: 0, expected: beat + 1, to: undefined } as const
  transaction.send({ ...sent, enzyme: undefined }, new Signal.PendingSignal(state.number(), Signal.make(sent, from)))
}
