/**
 * The course of a wake: the attempts that begin, those in progress, and those that ended.
 *
 * The plan is made again after each end, from the file as it is then, because a dependency may have become ready and a person
 * may have saved.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Action } from "../document/Action.ts"
import { ControlStore } from "../store/ControlStore.ts"
import * as Dispatch from "./Dispatch.ts"
import * as SpaceClients from "../order/SpaceClient.ts"
import * as ObservedWakes from "./ObservedWakes.ts"
import type * as Plan from "./Plan.ts"
import * as Projection from "./Projection.ts"
import type { Ran } from "./Report.ts"
import * as Record from "../order/Record.ts"
import * as State from "./State.ts"
import type { WakeState } from "./WakeState.ts"

/** The most background actions at the same time. Further ones wait for the end of one. */
export const MAX_BACKGROUND = 8

/** The most plans in a row that a person's save makes useless. After them the rest waits for the next wake. */
const MAX_SAVES = 5

type Attempt = Fiber.Fiber<Ran, SpaceClients.LedgerFailed>

/** The decision that an occurrence ends without a run. */
type Skipped = Extract<Plan.Decision, { readonly kind: "skip" }>

/** An attempt in progress. An end of one of an earlier wake stops no other action. */
interface Running extends Dispatch.DueAttempt {
  readonly isEarlier: boolean
}

/** The attempts of a wake. One fiber uses it. */
export class Course {
  private readonly running = new Map<Attempt, Running>()
  /** The actions that failures called, and that have not begun. */
  private calls: Array<Dispatch.DueAttempt> = []
  /** Whether a CRITICAL action failed. Only called actions begin from then on. */
  private isStopped = false
  /** Whether the file is gone or unusable. No action begins from then on. */
  private isLost = false
  private readonly wake: WakeState

  constructor(wake: WakeState) {
    this.wake = wake
  }

  /**
   * Takes up the rest of an earlier process: actions that never reached the space, and runs that go on there. Such a run is among
   * the running ones until its end, so other actions begin meanwhile as far as the limits allow.
   */
  readonly recover = Effect.fnUntraced(function*(this: Course) {
    const { wake } = this
    for (const action of wake.actions) {
      const record = wake.records.get(action.id)
      if (record?.status === "running") {
        const { attempt, occurrence } = record
        yield* this.fork({ action, attempt, occurrence, isEarlier: true }, Dispatch.resume(action, record, wake.context))
      } else if (action.status === "running") {
        yield* this.recoverGiven(action, record)
      }
    }
  })

  /** Takes up an action that the file tells as running, and that runs no more, or never ran. */
  private readonly recoverGiven = Effect.fnUntraced(function*(this: Course, action: Action, record: Record.Record | undefined) {
    const { wake } = this
    yield* ControlStore.use(({ held }) => held)
    const given = wake.heldBy(action).length > 0 ? undefined : yield* Dispatch.earlierAttempt(action, record, wake.context)
    if (given !== undefined) return void (yield* this.fork({ ...given, isEarlier: true }, Dispatch.run(given, wake.context)))
    const former = record === undefined ? wake.formerOf(action) : undefined
    if (former?.status === "running") return
    if (former !== undefined) wake.add(...Projection.end(action, former))
    else yield* this.end({ action, record: record ?? (yield* Dispatch.lose(action, wake.context, wake.start)) }, true)
  })

  /** Runs all actions that are due, and those that failures call. */
  readonly run = Effect.fnUntraced(function*(this: Course) {
    for (let saves = 0;;) {
      const chosen = this.isLost ? [] : yield* this.choose()
      if (chosen.length > 0 && !(yield* this.begin(chosen))) {
        this.isLost = ++saves >= MAX_SAVES || !(yield* this.wake.follow())
        continue
      }
      if (this.running.size === 0) return
      saves = 0
      yield* this.settle()
      this.isLost ||= !(yield* this.wake.follow())
    }
  })

  /**
   * The attempts that begin now. Called actions come before planned ones, and background actions before all, because they
   * delay none.
   */
  private readonly choose = Effect.fnUntraced(function*(this: Course) {
    const { running, wake } = this
    const now = yield* Clock.currentTimeMillis
    const busy = new Set([...running.values()].flatMap(({ action }) => this.idsOf(action)))
    this.calls = this.calls.flatMap(({ action: { id }, ...due }) => {
      const action = wake.byId.get(id)
      return action === undefined || !this.mayCall(action) ? [] : [{ ...due, action }]
    })
    const called = new Map(this.calls.map(({ action: { id }, attempt, occurrence }) =>
      [id, { attempt, occurrence: { key: occurrence, at: now } }]))
    const more = { called, running: busy }
    let plan = wake.plan(now, new Set([...wake.begun, ...busy]), more)
    for (let over = this.skippable(plan); over.length > 0; over = this.skippable(plan)) {
      yield* this.skip(over, now)
      plan = wake.plan(now, new Set([...wake.begun, ...busy]), more)
    }
    const due = this.due(plan).filter(({ action }) => !this.isStopped || called.has(action.id))
      .toSorted((a, b) => Number(called.has(b.action.id)) - Number(called.has(a.action.id)))
    const slots = new Slots([...running.values()], wake.request.settings.maxConcurrent)
    const chosen = due.filter(({ action }) => {
      const ids = this.idsOf(action)
      if (ids.some((id) => busy.has(id)) || !slots.take(action)) return false
      for (const id of ids) busy.add(id)
      return true
    })
    return [...chosen.filter(isBackground), ...chosen.filter((each) => !isBackground(each))]
  })

  private idsOf(action: Action): ReadonlyArray<string> {
    return [action, ...this.wake.membersOf(action)].map(({ id }) => id)
  }

  private mayCall(action: Action): boolean {
    const { wake } = this
    return !wake.begun.has(action.id) && action.status !== "other" && wake.heldBy(action).length === 0
  }

  private due(plan: Plan.Plan): ReadonlyArray<Dispatch.DueAttempt> {
    return plan.flatMap((decision) =>
      decision.kind === "run" && this.wake.heldBy(decision.action).length === 0
        ? [{ action: decision.action, occurrence: decision.occurrence.key, attempt: decision.attempt }]
        : [])
  }

  /** The occurrences to skip whose turn has come: no other action begins before them, and a place is free. */
  private skippable(plan: Plan.Plan): ReadonlyArray<Skipped> {
    const { running, wake } = this
    const found: Array<Skipped> = []
    if (this.isStopped) return found
    for (const decision of plan) {
      const slots = new Slots([...running.values()], wake.request.settings.maxConcurrent)
      if (decision.kind === "run" && wake.heldBy(decision.action).length === 0) return found
      if (decision.kind === "skip" && slots.take(decision.action)) found.push(decision)
    }
    return found
  }

  /** Ends the occurrences that are skipped. */
  private readonly skip = Effect.fnUntraced(function*(this: Course, skipped: ReadonlyArray<Skipped>, now: number) {
    const { wake } = this
    yield* wake.keep(skipped.reduce((observed, { action, occurrence }) =>
      ObservedWakes.skip(observed, { action: action.id, occurrence: occurrence.key, now }), wake.observed))
    for (const { action } of skipped) {
      wake.begun.add(action.id)
      wake.add(...Projection.skip(action, now))
    }
  })

  /**
   * Begins attempts: their permits are in the ledger, and their status in the file, before their events are sent. False if a person
   * saved meanwhile.
   */
  private readonly begin = Effect.fnUntraced(function*(this: Course, due: ReadonlyArray<Dispatch.DueAttempt>) {
    const { wake } = this
    // The permits of a wake that lost its lease would take the place of those of the present one.
    yield* ControlStore.use(({ held }) => held)
    const prepared = yield* Effect.forEach(due, (each) => Dispatch.prepare(each, wake.context))
    if (!(yield* wake.announce(due.map(({ action }) => action)))) return false
    this.calls = this.calls.filter((call) => !due.includes(call))
    for (const each of prepared) yield* this.fork({ ...each, isEarlier: false }, Dispatch.run(each, wake.context))
    return true
  })

  private readonly fork = Effect.fnUntraced(function*<R>(
    this: Course,
    each: Running,
    end: Effect.Effect<Record.Record, SpaceClients.LedgerFailed, R>
  ) {
    const attempt = Effect.map(end, (record): Ran => ({ action: each.action, record }))
    this.running.set(yield* Effect.forkChild(attempt, { startImmediately: true }), each)
  })

  /** Waits until an attempt ends, and takes all that have ended. */
  private readonly settle = Effect.fnUntraced(function*(this: Course) {
    const { running } = this
    yield* Effect.raceAllFirst([...running.keys()].map((fiber) => Fiber.await(fiber)))
    yield* ControlStore.use(({ held }) => held)
    for (const [fiber, { isEarlier }] of [...running].filter(([each]) => each.pollUnsafe() !== undefined)) {
      running.delete(fiber)
      const ran = yield* Fiber.join(fiber)
      yield* this.end(ran, isEarlier)
    }
  })

  /** Takes the end of an attempt, with those of members. One that an earlier wake began is reported apart, and stops no other action. */
  private readonly end = Effect.fnUntraced(function*(this: Course, ran: Ran, isEarlier: boolean) {
    const ledger = yield* SpaceClients.SpaceClient
    const { action, record } = ran
    const { wake } = this
    const events = new Set(wake.ran.map((each) => each.record.event))
    wake.note(action, record)
    const list = isEarlier ? wake.earlier : wake.ran
    list.push(ran)
    const members = wake.membersOf(action)
    for (const member of members) {
      const found = Record.read(yield* ledger.get(Record.cell(wake.place.key, member.id)))
      if (found === undefined || found.startedAt < record.startedAt || events.has(found.event)) continue
      wake.note(member, found)
      if (!isEarlier) wake.begun.add(member.id)
      list.push({ action: member, record: found })
    }
    const now = yield* Clock.currentTimeMillis
    const all = [record, ...members.flatMap(({ id }) => wake.records.get(id) ?? [])].flatMap(({ progress }) => progress ?? [])
    for (const member of members) {
      if (all.some(({ skipped }) => skipped.includes(member.id))) wake.add(...Projection.skip(member, now))
    }
    // Failures of members come before that of their composite action, once it is not tried again.
    const failed = new Set(State.retrial(action, record) === undefined ? all.flatMap((progress) => progress.failed) : [])
    for (const member of members) this.callOf(member, failed.has(member.id) ? wake.records.get(member.id) : undefined)
    if (record.isMember !== true) this.callOf(action, record)
    this.isStopped ||= !isEarlier && action.priority === "CRITICAL" && record.status === "failed"
  })

  /** Calls the action of `on_failure` after the last attempt of an occurrence. */
  private callOf(action: Action, record: Record.Record | undefined): void {
    if (action.onFailure === undefined || record?.status !== "failed" || State.retrial(action, record) !== undefined) return
    const called = this.wake.byId.get(action.onFailure)
    const occurrence = `failure:${record.event}`
    if (called === undefined || this.calls.some(({ action: { id } }) => id === called.id)) return
    this.calls.push({ action: called, occurrence, attempt: 1 })
  }
}

const isBackground = ({ action: { priority } }: Dispatch.DueAttempt): boolean => priority === "BG"

/** The free places for attempts. A CRITICAL action runs beside no other one but those of the background. */
class Slots {
  private background: number
  private foreground: number
  private isCritical: boolean

  constructor(running: ReadonlyArray<Dispatch.DueAttempt>, maxConcurrent: number) {
    const background = running.filter(isBackground).length
    this.background = MAX_BACKGROUND - background
    this.foreground = maxConcurrent - (running.length - background)
    this.isCritical = running.some(({ action: { priority } }) => priority === "CRITICAL")
  }

  /** Takes a place, if one is free. */
  take({ priority }: Action): boolean {
    if (priority === "BG") return this.background-- > 0
    if (this.isCritical && priority !== "CRITICAL") return false
    this.isCritical ||= priority === "CRITICAL"
    return this.foreground-- > 0
  }
}
