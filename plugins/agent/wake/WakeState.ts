/**
 * The state of a wake in progress: the file, the records, the captured facts, and the plan that follows from them.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sha256 } from "systole"
import { Moment } from "systole/time"
import { type Action, isId } from "../document/Action.ts"
import * as Approval from "../document/Approval.ts"
import { field } from "../text/Block.ts"
import type { ControlFile } from "../document/ControlFile.ts"
import { type WakeFacts, ControlStore, type Place } from "../store/ControlStore.ts"
import * as Dependencies from "../document/Dependencies.ts"
import * as Dispatch from "./Dispatch.ts"
import type { Change } from "../document/Edit.ts"
import * as SpaceClients from "../order/SpaceClient.ts"
import { type Facts, holds, type Memory, quietOf } from "./Memory.ts"
import * as ObservedWakes from "./ObservedWakes.ts"
import * as Orders from "../order/Order.ts"
import type { OpenFile } from "../store/OpenFile.ts"
import * as Plan from "./Plan.ts"
import * as Projection from "./Projection.ts"
import * as Record from "../order/Record.ts"
import type { Ran, Report } from "./Report.ts"
import * as Settings from "./Settings.ts"
import * as Schedules from "../schedule/Schedule.ts"
import * as State from "./State.ts"
import type { Versions } from "../store/Versions.ts"

/** The services of a wake. */
export type Services = ControlStore | SpaceClients.SpaceClient

/** The request for a wake. */
export interface Request {
  readonly settings: Settings.Settings
  /** The key of this start of the agent. */
  readonly startup: string
  /** The actions that run without being due, all of them for `"all"`; absent for none. */
  readonly forced?: ReadonlySet<string> | "all" | undefined
  /** Whether the wake only tells its plan. */
  readonly isDry?: boolean
  /** The memory of a process that holds the lease from wake to wake. */
  readonly memory?: Memory
  /** Versions that are parsed already, where there is no memory. */
  readonly versions?: Versions
}

/** The hashes of blocks, as long as the file is not parsed again. */
const hashes = new WeakMap<Action["block"], string>()

/** The actions that do not run again by themselves. */
const endedOf = (all: ReadonlyArray<Ran>): ReadonlyArray<string> => all.flatMap(({ action, record }) =>
  Schedules.isRecurring(action.schedule) || State.retrial(action, record) !== undefined ? [] : [action.id])

/** A plan, and the states from which it follows. */
type Planned = Pick<Report, "plan" | "states">

/** The time after a wake until the next one for an action that is due again at its end, in milliseconds. */
const AGAIN_MILLIS = 1_000

/** The unit of times in a file, in milliseconds. */
const SECOND = 1_000

const NO_FACTS: WakeFacts = { files: new Set(), variables: new Set(), digests: new Map() }

/** The begin of a wake: its file and its time. */
interface Begin {
  readonly place: Place
  /** The version of the file before it was read. */
  readonly version: string | undefined
  readonly start: number
}

/** The state of a wake. One fiber changes it. */
export class WakeState {
  readonly ran: Array<Ran> = []
  /** The attempts that earlier wakes began, and that ended since. */
  readonly earlier: Array<Ran> = []
  /** The actions that began in this wake. */
  readonly begun = new Set<string>()
  /** The actions of which an attempt ended in this wake. */
  readonly ended = new Set<string>()
  isWritten = true
  /** The ended actions with older copies of their blocks. */
  private older: ReadonlyArray<string> = []
  observed = ObservedWakes.none
  /** The observations as the ledger has them. */
  private kept = ObservedWakes.none
  records = new Map<string, Record.Record>()
  readonly open: OpenFile
  readonly request: Request
  readonly place: Place
  readonly version: string | undefined
  readonly start: number
  captured = NO_FACTS
  private approved: ReadonlySet<string> = new Set()
  private hasNewSettings = false
  private latest: Planned | undefined
  /** The time and the file of the latest plan. */
  private planned: { readonly at: number; readonly file: ControlFile | undefined } = { at: 0, file: undefined }
  private isBackedUp = false
  /** The changes of the file that are not written yet. */
  private changes: Array<Change> = []

  constructor(request: Request, open: OpenFile, { place, start, version }: Begin) {
    this.request = request
    this.open = open
    this.place = place
    this.version = version
    this.start = start
  }

  get actions(): ReadonlyArray<Action> {
    return this.open.file.actions
  }

  get byId(): ReadonlyMap<string, Action> {
    return this.open.byId
  }

  get context(): Dispatch.Context {
    return {
      place: this.place,
      byId: this.byId,
      records: this.records,
      ended: new Map(this.ran.map(({ action: { id }, record }) => [id, record])),
      states: this.latest?.states ?? new Map(),
      captured: this.captured,
      digestOf: this.digestOf
    }
  }

  /** Whether changes of the file wait for their write. */
  get hasChanges(): boolean {
    return this.changes.length > 0
  }

  readonly digestOf = ({ block }: Action): string => {
    const found = hashes.get(block) ?? sha256(Approval.textOf(block)).slice(0, 32)
    hashes.set(block, found)
    return found
  }

  /** The programs that an action starts and no person has approved. */
  heldBy(action: Action): ReadonlyArray<Action> {
    if (this.request.settings.approval === "none") return []
    return Approval.programsOf(action, this.byId).filter((each) => !this.approved.has(this.digestOf(each)))
  }

  private states(now: number): ReadonlyMap<string, Plan.ActionState> {
    const { digestOf, observed, request: { startup } } = this
    const context = { now, observed, startup, digestOf }
    return new Map(this.actions.map((action) => [action.id, State.of(action, this.records.get(action.id), context)]))
  }

  /** The plan of a moment. `begin` lists the actions that may not begin. */
  plan(now: number, begun: ReadonlySet<string> = this.begun, more: Pick<Plan.Facts, "called" | "running"> = {}): Plan.Plan {
    return this.planAt(now, begun, more).plan
  }

  private planAt(now: number, begun: ReadonlySet<string>, more: Pick<Plan.Facts, "called" | "running"> = {}): Planned {
    const { forced, settings, startup } = this.request
    const { files, variables } = this.captured
    const states = this.states(now)
    const plan = Plan.make(this.actions, {
      now,
      begun,
      files,
      variables,
      hasTime: Plan.hasTime(this.start, now, settings.budget),
      states,
      ...more,
      forced: forced === undefined ? undefined : {
        ids: forced === "all" ? this.independent() : forced,
        occurrence: `force:${startup}.${this.start}`
      }
    })
    this.latest = { plan, states }
    this.planned = { at: now, file: this.open.file }
    return this.latest
  }

  /** The actions that others do not run alone. */
  private independent(): ReadonlySet<string> {
    const called = Dependencies.calledBy(this.actions)
    return new Set(this.actions.flatMap(({ id, schedule }) => schedule.kind === "always" && called.has(id) ? [] : [id]))
  }

  /** Reads the ledger, and captures the facts on which the actions of the file depend. */
  readonly load = Effect.fnUntraced(function*(this: WakeState) {
    const ledger = yield* SpaceClients.SpaceClient
    const { place, request: { memory, settings } } = this
    this.records = memory?.records ?? (yield* SpaceClients.records(place.key))
    this.approved = new Set(yield* ledger.list(Record.approval(place.key, "").slice(0, -1)))
    this.kept = memory?.observed ?? ObservedWakes.read(yield* ledger.get(ObservedWakes.cell(place.key)))
    const hash = sha256(JSON.stringify(settings)).slice(0, 12)
    this.hasNewSettings = this.kept.settings !== "" && this.kept.settings !== hash
    this.observed = this.kept.settings === hash ? this.kept : { ...this.kept, settings: hash }
    yield* this.capture()
  })

  private readonly capture = Effect.fnUntraced(function*(this: WakeState) {
    this.captured = yield* ControlStore.use((store) => store.capture(this.actions))
  })

  /** Observes the captured facts. */
  readonly look = Effect.fnUntraced(function*(this: WakeState) {
    const ids = new Set(this.actions.map(({ id }) => id))
    // A block with an error has no action, and keeps its records. A record that no wake wrote may have any text for an id.
    const named = new Set(this.open.file.blocks.map(({ id }) => id))
    const removed = [...this.records.keys()].filter((id) => !named.has(id) && isId(id))
    const now = yield* Clock.currentTimeMillis
    this.observed = ObservedWakes.look(this.observed, { ids, removed, now, digests: this.captured.digests })
    if (this.request.isDry === true) return
    const expired = ObservedWakes.expiredActions(this.observed, now)
    if (expired.length > 0) yield* this.expire(expired)
    if (this.observed !== this.kept) yield* this.keep(this.observed)
  })

  /** Deletes the records of actions that were removed from the file long ago. */
  private readonly expire = Effect.fnUntraced(function*(this: WakeState, ids: ReadonlyArray<string>) {
    const ledger = yield* SpaceClients.SpaceClient
    const { place: { key } } = this
    for (const id of ids) {
      // The record comes last: by it, a later wake finds what one that ended here has left.
      for (const cell of [Orders.permit(key, id), `${Record.history(key)}/${id}`, Record.cell(key, id)]) yield* ledger.remove(cell)
      this.records.delete(id)
    }
    this.observed = ObservedWakes.forget(this.observed, ids)
  })

  private get facts(): Facts {
    const { approved, captured, observed, open: { file }, request: { startup } } = this
    return { approved, captured, file, observed, startup }
  }

  /** The report of a wake for which nothing changed since a quiet one; `undefined` for any other wake. */
  quiet(): Report | undefined {
    const { forced, isDry = false, memory } = this.request
    if (memory?.quiet === undefined || forced !== undefined || isDry || !holds(memory.quiet, this.facts, this.start)) return undefined
    return { ...memory.quiet.report, copies: this.open.copies }
  }

  /** Keeps the end of the wake for the next one. */
  remember(memory: Memory, report: Report): void {
    const { ran, request: { forced, settings }, start } = this
    memory.open = this.open
    memory.records = this.records
    memory.captured = this.captured
    memory.observed = this.observed
    if (memory.quiet?.report.plan === report.plan) return
    const { at, file } = this.planned
    const isIdle = this.begun.size === 0 && ran.length + this.earlier.length === 0 && this.older.length === 0 && forced === undefined
    const isQuiet = isIdle && this.isWritten && file === this.open.file &&
      Plan.hasTime(start, at, settings.budget) && !this.isDue(report.plan)
    memory.quiet = isQuiet ? quietOf(report, this.facts, at) : undefined
  }

  /** Whether an action may begin at once. */
  private isDue(plan: Plan.Plan): boolean {
    return plan.some(({ action, kind }) => kind === "run" && this.heldBy(action).length === 0)
  }

  /** Keeps observations in the ledger. */
  readonly keep = Effect.fnUntraced(function*(this: WakeState, observed: ObservedWakes.ObservedWakes) {
    this.observed = observed
    this.kept = observed
    yield* SpaceClients.SpaceClient.use((ledger) => ledger.set(ObservedWakes.cell(this.place.key), observed))
  })

  /** Notes changes for the next write. */
  add(...changes: ReadonlyArray<Change>): void {
    this.changes.push(...changes)
  }

  /** Clears "Completed Today" before the noted changes. */
  reset(): void {
    this.changes.unshift({ kind: "reset" })
  }

  /** Notes the record of an ended attempt. */
  note(action: Action, record: Record.Record): void {
    this.ended.add(action.id)
    this.records.set(action.id, record)
    this.add(...Projection.end(action, record))
  }

  /** The actions with older copies of their blocks, and their records. */
  private olderCopies(): ReadonlyArray<Ran> {
    return this.actions.flatMap((action) => {
      const record = this.records.get(action.id)
      return State.isOlder(action, record, this) ? [{ action, record }] : []
    })
  }

  /** Notes the changes of blocks that are older copies. An action that recurs runs by its schedule, and is not told. */
  catchUp(day: string): void {
    const { settings } = this.request
    const found = this.olderCopies()
    this.older = endedOf(found)
    for (const { action, record } of found) {
      this.add(...Projection.caughtUp(action, record, Settings.dayOf(Record.endOf(record) ?? 0, settings) === day))
    }
  }

  /** Writes the noted changes and some more, also into a version that a person saved meanwhile. */
  readonly write = Effect.fnUntraced(function*(this: WakeState, more: ReadonlyArray<Change> = []) {
    const changes = [...this.changes, ...more]
    if (changes.length === 0) return
    this.isWritten = yield* this.open.save(changes)
    this.changes = []
  })

  /**
   * Writes the status of actions that begin, beside the noted changes. The first such write of a wake backs the file up.
   * Returns false, and writes nothing, if a person saved since the plan was made.
   */
  readonly announce = Effect.fnUntraced(function*(this: WakeState, actions: ReadonlyArray<Action>) {
    const now = yield* Clock.currentTimeMillis
    const { open } = this
    if (!this.isBackedUp) {
      const store = yield* ControlStore
      yield* store.backUp(open.bytes)
      this.isBackedUp = true
    }
    const begun = actions.flatMap((action) => Projection.begin(action, now))
    if (!(yield* open.put([...this.changes, ...begun, { kind: "frontmatter", key: "status", value: "running" }]))) return false
    for (const { id } of actions) this.begun.add(id)
    this.changes = []
    return true
  })

  /** Reads a version that a person saved since. Returns false if there is no usable one, and then nothing may begin. */
  readonly follow = Effect.fnUntraced(function*(this: WakeState) {
    const { file } = this.open
    this.isWritten = yield* this.open.follow(this.changes)
    if (this.open.file === file) return this.isWritten
    this.changes = []
    yield* this.capture()
    yield* this.look()
    return this.isWritten
  })

  /**
   * The record of an action that has another id in the file since it began: of an id that no block has, with the begin that the
   * block tells. A run that goes on counts until its time limit.
   */
  formerOf({ block, timeout, zone }: Action): Record.Record | undefined {
    const begin = Moment.parse(field(block, "started_at")?.value ?? "", zone)
    const present = new Set(this.open.file.blocks.map(({ id }) => id))
    return begin === undefined ? undefined : [...this.records.values()].find((record) => {
      const isLate = record.status === "running" && this.start > begin + timeout + Dispatch.GRACE_MILLIS
      return !present.has(record.action) && !isLate && Math.abs(Record.beginOf(record) - begin) <= SECOND
    })
  }

  /** The members of composite actions, and of their members. */
  membersOf(action: Action): ReadonlyArray<Action> {
    return Dependencies.membersOf(action).flatMap((id) => {
      const member = this.byId.get(id)
      return member === undefined ? [] : [member, ...this.membersOf(member)]
    })
  }

  /**
   * The time at which the next wake is due by a plan; `undefined` for none. An action that is due at the end of a wake, such as
   * one that took longer than its interval, begins in the next one. A forced action is always due.
   */
  nextDue(plan: Plan.Plan, now: number): number | undefined {
    const { forced, isDry = false } = this.request
    const next = Plan.nextDue(plan)
    return isDry || forced !== undefined || !this.isDue(plan) ? next : Math.min(next ?? Number.POSITIVE_INFINITY, now + AGAIN_MILLIS)
  }

  readonly report = Effect.fnUntraced(function*(this: WakeState) {
    const now = yield* Clock.currentTimeMillis
    const isQuiet = this.begun.size === 0 && this.ran.length === 0
    const { plan, states } = (isQuiet ? this.latest : undefined) ?? this.planAt(now, new Set())
    const programs = new Map(this.actions.flatMap((action) => this.heldBy(action).map((each) => [each.id, each] as const)))
    return {
      ran: this.ran,
      earlier: this.earlier,
      plan,
      states,
      held: [...programs.values()].map((action) => ({ action, hash: this.digestOf(action) })),
      issues: this.open.file.issues,
      copies: this.open.copies,
      older: this.request.isDry === true ? endedOf(this.olderCopies()) : this.older,
      written: this.actions.filter((action) => State.isWritten(action, this.records.get(action.id))).map(({ id }) => id),
      hasNewSettings: this.hasNewSettings,
      isWritten: this.isWritten,
      nextDue: this.nextDue(plan, now)
    } satisfies Report as Report
  })
}
