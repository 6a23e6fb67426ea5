/**
 * A wake: runs the actions that are due, one after another, and writes their status into the control file.
 *
 * The caller holds the lease. The plan is made again after each action, because a dependency may have become ready.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Hash } from "../persistence/Hash.ts"
import type { Action } from "./Action.ts"
import * as Approval from "./Approval.ts"
import * as ControlFiles from "./ControlFile.ts"
import { Disk, type DiskFailed } from "./Disk.ts"
import * as Dependencies from "./Dependencies.ts"
import * as Dispatch from "./Dispatch.ts"
import type { Change } from "./Edit.ts"
import * as Facts from "./Facts.ts"
import * as Frontmatters from "./Frontmatter.ts"
import * as Issues from "./Issue.ts"
import * as Ledger from "./Ledger.ts"
import * as Observed from "./Observed.ts"
import { FileUnusable, OpenFile } from "./OpenFile.ts"
import * as Plan from "./Plan.ts"
import * as Projection from "./Projection.ts"
import type { Ran, Report } from "./Report.ts"
import * as Record from "./Record.ts"
import * as Settings from "./Settings.ts"
import * as State from "./State.ts"
import * as StoredFile from "./StoredFile.ts"

/** The services of a wake. */
export type Services = Disk | Hash | Ledger.Ledger

/** The failures of a wake as a whole. */
export type Failure = DiskFailed | FileUnusable | Ledger.LedgerFailed

/** The request for a wake. */
export interface Request {
  readonly place: StoredFile.Place
  readonly settings: Settings.Settings
  /** The key of this start of the agent. */
  readonly startup: string
  /** The actions that run without being due, all of them for `"all"`; absent for none. */
  readonly forced?: ReadonlySet<string> | "all" | undefined
  /** Whether the wake only tells its plan. */
  readonly isDry?: boolean
  /** The memory of a process that holds the lease from wake to wake. */
  readonly memory?: Memory
}

/** The file and the records after a wake. No other process changes them while this one holds the lease. */
export class Memory {
  /** The version of the file on the disk. */
  version: string | undefined
  open: OpenFile | undefined
  records: ReadonlyMap<string, Record.Record> | undefined
}

export type { Ran, Report }

/** The hashes of blocks, as long as the file is not parsed again. */
const hashes = new WeakMap<Action["block"], string>()

/** A plan, and the states from which it follows. */
type Planned = Pick<Report, "plan" | "states">

/** The state of a wake in progress. */
class Wake {
  readonly ran: Array<Ran> = []
  readonly begun = new Set<string>()
  isWritten = true
  observed = Observed.none
  captured: Facts.Captured = { files: new Set(), variables: new Set(), digests: new Map() }
  records = new Map<string, Record.Record>()
  approved: ReadonlySet<string> = new Set()
  hasNewSettings = false
  private latest: Planned | undefined
  private isRunning = false
  private isBackedUp = false
  private changes: Array<Change> = []
  /** Attempts of background actions in progress. */
  private readonly background = new Set<Fiber.Fiber<Ran, Ledger.LedgerFailed>>()
  readonly open: OpenFile
  readonly start: number
  private readonly request: Request
  private readonly hash: Hash["Service"]

  constructor(request: Request, open: OpenFile, environment: { readonly start: number; readonly hash: Hash["Service"] }) {
    this.request = request
    this.open = open
    this.start = environment.start
    this.hash = environment.hash
  }

  get actions(): ReadonlyArray<Action> {
    return this.open.file.actions
  }

  get byId(): ReadonlyMap<string, Action> {
    return this.open.byId
  }

  private get context(): Dispatch.Context {
    return { place: this.request.place, byId: this.byId, records: this.records }
  }

  hashOf({ block }: Action): string {
    const found = hashes.get(block) ?? this.hash.hex(Approval.textOf(block)).slice(0, 32)
    hashes.set(block, found)
    return found
  }

  /** The programs that an action starts and no person has approved. */
  heldBy(action: Action): ReadonlyArray<Action> {
    if (this.request.settings.approval === "none") return []
    return Approval.programsOf(action, this.byId).filter((each) => !this.approved.has(this.hashOf(each)))
  }

  private states(now: number): ReadonlyMap<string, Plan.ActionState> {
    const context = { now, observed: this.observed, startup: this.request.startup }
    return new Map(this.actions.map((action) => [action.id, State.of(action, this.records.get(action.id), context)]))
  }

  /** The plan of a moment. `begun` lists the actions that may not begin. */
  plan(now: number, begun: ReadonlySet<string> = this.begun): Plan.Plan {
    return this.planned(now, begun).plan
  }

  private planned(now: number, begun: ReadonlySet<string>): Planned {
    const { forced, settings, startup } = this.request
    const { files, variables } = this.captured
    const states = this.states(now)
    const plan = Plan.make(this.actions, {
      now,
      begun,
      files,
      variables,
      hasTime: now - this.start < settings.budget / 2,
      states,
      forced: forced === undefined ? undefined : {
        ids: forced === "all" ? new Set(this.actions.map(({ id }) => id)) : forced,
        occurrence: `force:${startup}.${this.start}`
      }
    })
    this.latest = { plan, states }
    return this.latest
  }

  /** Reads the ledger and the facts of the host. */
  readonly load = Effect.fnUntraced(function*(this: Wake) {
    const ledger = yield* Ledger.Ledger
    const { place, settings } = this.request
    this.records = new Map(this.request.memory?.records ?? (yield* Ledger.records(place.key)))
    this.approved = new Set(yield* ledger.list(Record.approval(place.key, "").slice(0, -1)))
    const cell = Observed.cell(place.key)
    const before = Observed.read(yield* ledger.get(cell))
    this.captured = yield* Facts.capture(place.folder, this.actions)
    const ids = new Set(this.actions.map(({ id }) => id))
    this.observed = Observed.look(before, { ids, now: this.start, digests: this.captured.digests })
    const hash = this.hash.hex(JSON.stringify(settings)).slice(0, 12)
    this.hasNewSettings = before.settings !== "" && before.settings !== hash
    if (before.settings !== hash) this.observed = { ...this.observed, settings: hash }
    if (this.observed !== before && this.request.isDry !== true) yield* ledger.set(cell, this.observed)
  })

  /** Ends what an earlier process left: runs that go on in the space, and actions that never reached it. */
  readonly recover = Effect.fnUntraced(function*(this: Wake) {
    const { place } = this.request
    for (const action of this.actions) {
      const record = this.records.get(action.id)
      if (record?.status === "running") {
        const ended = yield* Ledger.ended({ file: place.key, action: action.id }, action.timeout)
        if (ended !== undefined) this.note(action, ended)
      } else if (action.status === "running" && record !== undefined) this.note(action, record)
      else if (action.status === "running") {
        const attempt = action.record.retryCount + 1
        const message = "the agent ended before the action began"
        const due = { action, occurrence: `lost:${this.start}`, attempt }
        this.note(action, yield* Dispatch.fail(due, this.context, { code: "agent/interrupted", message }))
      }
    }
  })

  private note(action: Action, record: Record.Record): void {
    this.records.set(action.id, record)
    this.changes.push(...Projection.ended(action, record))
  }

  /** Writes the collected changes. The first write of a wake that runs an action backs the file up. */
  readonly write = Effect.fnUntraced(function*(this: Wake, more: ReadonlyArray<Change> = []) {
    const changes = [...this.changes, ...more]
    if (changes.length === 0) return
    if (this.isRunning && !this.isBackedUp) {
      yield* StoredFile.noteValid(this.request.place, this.open.bytes)
      yield* StoredFile.backUp(this.request.place, this.open.bytes)
      this.isBackedUp = true
    }
    this.isWritten = yield* this.open.save(changes)
    this.changes = []
  })

  /** Begins attempts: their status is in the file before their events are sent. */
  readonly begin = Effect.fnUntraced(function*(this: Wake, due: ReadonlyArray<Dispatch.Due>) {
    const now = yield* Clock.currentTimeMillis
    this.isRunning = true
    for (const { action } of due) {
      this.begun.add(action.id)
      this.changes.push(...Projection.begun(action, now))
    }
    yield* this.write([{ kind: "frontmatter", key: "status", value: "running" }])
    const fibers: Array<Fiber.Fiber<Ran, Ledger.LedgerFailed>> = []
    for (const each of due) {
      const attempt = Effect.map(Dispatch.run(each, this.context), (record): Ran => ({ action: each.action, record }))
      fibers.push(yield* Effect.forkChild(attempt, { startImmediately: true }))
    }
    return fibers
  })

  /** Takes the end of an attempt, with those of members, and returns the action that the failure calls. */
  readonly end = Effect.fnUntraced(function*(this: Wake, { action, record }: Ran) {
    const ledger = yield* Ledger.Ledger
    this.note(action, record)
    this.ran.push({ action, record })
    for (const id of Dependencies.membersOf(action)) {
      const member = this.byId.get(id)
      const found = Record.read(yield* ledger.get(Record.cell(this.request.place.key, id)))
      if (member === undefined || found === undefined || found.startedAt < record.startedAt) continue
      this.begun.add(id)
      this.note(member, found)
      this.ran.push({ action: member, record: found })
    }
    const calls: Array<Dispatch.Due> = []
    const isFinal = record.status === "failed" && State.retrial(action, record) === undefined
    const called = isFinal && action.onFailure !== undefined ? this.byId.get(action.onFailure) : undefined
    if (called !== undefined && !this.begun.has(called.id) && this.heldBy(called).length === 0) {
      calls.push({ action: called, occurrence: `failure:${record.event}`, attempt: 1 })
    }
    return calls
  })

  /** Waits for a background action, if one is in progress. */
  readonly nextBackground = Effect.fnUntraced(function*(this: Wake, isWaiting: boolean) {
    const done = [...this.background].filter((fiber) => fiber.pollUnsafe() !== undefined)
    const taken = done.length > 0 || !isWaiting ? done : [...this.background].slice(0, 1)
    const calls: Array<Dispatch.Due> = []
    for (const fiber of taken) {
      this.background.delete(fiber)
      calls.push(...yield* this.end(yield* Fiber.join(fiber)))
    }
    return calls
  })

  /** Runs all actions that are due. After a failed CRITICAL one, only the actions that failures call begin. */
  readonly run = Effect.fnUntraced(function*(this: Wake) {
    const calls: Array<Dispatch.Due> = []
    for (let isStopped = false; !isStopped || this.background.size > 0 || calls.length > 0;) {
      calls.push(...yield* this.nextBackground(false))
      const now = yield* Clock.currentTimeMillis
      const plan = this.plan(now)
      yield* this.skip(plan, now)
      const call = calls.shift()
      const planned = isStopped ? [] : this.due(plan).filter(({ action }) => action.id !== call?.action.id)
      const due: ReadonlyArray<Dispatch.Due> = call === undefined || this.begun.has(call.action.id) ? planned : [call, ...planned]
      const behind = due.filter(({ action }) => action.priority === "BG")
      const next = due.find(({ action }) => action.priority !== "BG")
      const chosen = next === undefined ? behind : [...behind, next]
      if (chosen.length === 0) {
        if (this.background.size === 0 && calls.length === 0) return
        calls.push(...yield* this.nextBackground(true))
        continue
      }
      const fibers = yield* this.begin(chosen)
      for (const fiber of fibers.slice(0, behind.length)) this.background.add(fiber)
      const foreground = fibers[behind.length]
      if (foreground === undefined) continue
      const ran = yield* Fiber.join(foreground)
      calls.push(...yield* this.end(ran))
      isStopped ||= ran.action.priority === "CRITICAL" && ran.record.status === "failed"
    }
  })

  private due(plan: Plan.Plan): ReadonlyArray<Dispatch.Due> {
    return plan.flatMap((decision) =>
      decision.kind === "run" && this.heldBy(decision.action).length === 0
        ? [{ action: decision.action, occurrence: decision.occurrence.key, attempt: decision.attempt }]
        : [])
  }

  /** Ends the occurrences that are skipped. */
  private readonly skip = Effect.fnUntraced(function*(this: Wake, plan: Plan.Plan, now: number) {
    const skipped = plan.filter((decision) => decision.kind === "skip")
    if (skipped.length === 0) return
    const ledger = yield* Ledger.Ledger
    const times = Object.fromEntries(skipped.map(({ action }) => [action.id, now]))
    this.observed = { ...this.observed, skipped: { ...this.observed.skipped, ...times } }
    yield* ledger.set(Observed.cell(this.request.place.key), this.observed)
    for (const { action } of skipped) {
      this.begun.add(action.id)
      this.changes.push(...Projection.skipped(action, now))
    }
  })

  /** Writes the end of the wake, if it changed the status of an action. */
  readonly finish = Effect.fnUntraced(function*(this: Wake) {
    if (this.begun.size === 0 && this.changes.length === 0) return
    const ledger = yield* Ledger.Ledger
    const now = yield* Clock.currentTimeMillis
    const { settings } = this.request
    const day = Settings.dayOf(now, settings)
    for (const decision of this.plan(now)) if (decision.kind === "block") this.changes.push(...Projection.blocked(decision.action))
    if (this.observed.day !== "" && this.observed.day !== day) this.changes.unshift({ kind: "reset" })
    yield* this.write()
    const failed = this.ran.filter(({ record }) => record.status === "failed")
    const isError = failed.some(({ action }) => action.priority === "CRITICAL")
    const next = Plan.nextDue(this.plan(now, new Set()))
    const count = Frontmatters.get(this.open.file.frontmatter, "error_count")
    const last = failed.at(-1)
    const values = {
      status: isError ? "error" : "idle",
      last_wake: Projection.moment(this.start),
      next_wake: next === undefined ? null : Projection.moment(Math.max(next, now)),
      error_count: failed.length === 0 ? 0 : (typeof count === "number" ? count : 0) + 1,
      last_error: last === undefined ? null : `${last.action.id}: ${last.record.failure?.message ?? "failed"}`,
      config_hash: this.observed.settings
    }
    yield* this.write(Object.entries(values).map(([key, value]): Change => ({ kind: "frontmatter", key, value })))
    yield* StoredFile.noteValid(this.request.place, this.open.bytes)
    if (this.observed.day === day) return
    this.observed = { ...this.observed, day }
    yield* ledger.set(Observed.cell(this.request.place.key), this.observed)
  })

  readonly report = Effect.fnUntraced(function*(this: Wake) {
    const now = yield* Clock.currentTimeMillis
    const isQuiet = this.begun.size === 0 && this.ran.length === 0
    const { plan, states } = (isQuiet ? this.latest : undefined) ?? this.planned(now, new Set())
    const programs = new Map(this.actions.flatMap((action) => this.heldBy(action).map((each) => [each.id, each] as const)))
    return {
      ran: this.ran,
      plan,
      states,
      held: [...programs.values()].map((action) => ({ action, hash: this.hashOf(action) })),
      issues: this.open.file.issues,
      copies: this.open.copies,
      hasNewSettings: this.hasNewSettings,
      isWritten: this.isWritten,
      nextDue: Plan.nextDue(plan)
    } satisfies Report as Report
  })
}

/** Opens the file of a wake. */
const prepare = Effect.fnUntraced(function*(request: Request): Effect.fn.Return<Wake, Failure, Services> {
  const { isDry = false, memory, place, settings } = request
  const types = yield* Ledger.types
  const copies = isDry ? [] : yield* StoredFile.tend(place)
  const version = yield* Disk.use((disk) => disk.version(place.path))
  const known = version === undefined || memory?.version !== version ? undefined : memory.open
  const open = known ?? (yield* OpenFile.open(place, { ...settings.defaults, types }, isDry))
  open.copies.splice(0, known === undefined ? 0 : open.copies.length)
  open.copies.push(...copies)
  const start = yield* Clock.currentTimeMillis
  const wake = new Wake(request, open, { start, hash: yield* Hash })
  if (!ControlFiles.isDamaged(open.file)) return wake
  const [first] = open.file.issues.filter(({ block, severity }) => severity === "error" && block === undefined)
  const remedy = "Correct it, or put the latest valid version back with systole agent history --restore"
  return yield* new FileUnusable({
    path: place.path, code: "agent/file-damaged", reason: first === undefined ? "it is not valid" : Issues.render(first), remedy
  })
})

/**
 * Runs a wake. The caller holds the lease, except for a dry one, which runs and writes nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const run = Effect.fn("Wake.run")(function*(request: Request): Effect.fn.Return<Report, Failure, Services> {
  const wake = yield* prepare(request)
  yield* wake.load()
  if (request.isDry === true) return yield* wake.report()
  yield* wake.recover()
  yield* wake.run()
  yield* wake.finish()
  if (request.memory !== undefined) {
    request.memory.open = wake.open
    request.memory.records = wake.records
    request.memory.version = yield* Disk.use((disk) => disk.version(request.place.path))
  }
  return yield* wake.report()
})
