/**
 * A wake: runs the actions that are due, and writes their status into the control file. The caller holds the lease.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ControlFiles from "../document/ControlFile.ts"
import { ControlStore, type StoreFailed } from "../store/ControlStore.ts"
import { Course } from "./Course.ts"
import type { Change } from "../document/Edit.ts"
import * as Frontmatters from "../text/Frontmatter.ts"
import * as Issues from "../text/Issue.ts"
import * as SpaceClients from "../order/SpaceClient.ts"
import { FileUnusable, OpenFile } from "../store/OpenFile.ts"
import * as OwnOutput from "./OwnOutput.ts"
import * as Projection from "./Projection.ts"
import type { Ran, Report } from "./Report.ts"
import * as Settings from "./Settings.ts"
import { Memory } from "./Memory.ts"
import { type Request, type Services, WakeState } from "./WakeState.ts"
import { isSame } from "../text/Bytes.ts"

/** The failures of a wake as a whole. */
export type Failure = StoreFailed | FileUnusable | SpaceClients.LedgerFailed

export { Memory }
export type { Ran, Report, Request, Services }

/** The frontmatter at the end of a wake. */
const frontmatterOf = (wake: WakeState, now: number): ReadonlyArray<Change> => {
  const failed = [...wake.earlier, ...wake.ran].filter(({ record }) => record.status === "failed")
  const isError = failed.some(({ action }) => action.priority === "CRITICAL")
  const next = wake.nextDue(wake.plan(now, new Set()), now)
  const count = Frontmatters.get(wake.open.file.frontmatter, "error_count")
  const last = failed.at(-1)
  const values = {
    status: isError ? "error" : "idle",
    last_wake: Projection.moment(wake.start),
    next_wake: next === undefined ? null : Projection.moment(Math.max(next, now)),
    error_count: failed.length === 0 ? 0 : (typeof count === "number" ? count : 0) + 1,
    last_error: last === undefined ? null : `${last.action.id}: ${last.record.failure?.message ?? "failed"}`,
    config_hash: wake.observed.settings
  }
  return Object.entries(values).map(([key, value]) => ({ kind: "frontmatter", key, value }))
}

/** Writes the end of the wake, if it changed the status of an action. */
const finish = Effect.fnUntraced(function*(wake: WakeState) {
  const now = yield* Clock.currentTimeMillis
  const day = Settings.dayOf(now, wake.request.settings)
  wake.catchUp(day)
  if (wake.begun.size === 0 && !wake.hasChanges) return
  for (const decision of wake.plan(now)) if (decision.kind === "block") wake.add(...Projection.block(decision.action))
  if (wake.observed.day !== "" && wake.observed.day !== day) wake.reset()
  yield* wake.write()
  yield* wake.write(frontmatterOf(wake, now))
  if (wake.isWritten) yield* wake.open.noteValid
  yield* OwnOutput.passOver(wake)
  if (wake.observed.day !== day) yield* wake.keep({ ...wake.observed, day })
})

/** Opens the file of a wake. */
const prepare = Effect.fnUntraced(function*(request: Request): Effect.fn.Return<WakeState, Failure, Services> {
  const { isDry = false, memory, settings } = request
  const store = yield* ControlStore
  const types = yield* SpaceClients.types
  const copies = isDry ? [] : yield* store.tend
  const version = yield* store.version
  const defaults = { ...settings.defaults, types }
  const isKnown = version !== undefined && memory?.version === version && memory.open?.isOf(defaults) === true
  const known = isKnown ? memory.open : undefined
  const open = known ?? (yield* OpenFile.open(defaults, isDry, request.versions ?? memory?.versions))
  open.copies.splice(0, known === undefined ? 0 : open.copies.length)
  open.copies.push(...copies)
  const start = yield* Clock.currentTimeMillis
  const wake = new WakeState(request, open, { place: store.place, version, start })
  if (!ControlFiles.isDamaged(open.file)) return wake
  const [first] = open.file.issues.filter(({ block, severity }) => severity === "error" && block === undefined)
  const reason = first === undefined ? "it is not valid" : Issues.render(first)
  return yield* new FileUnusable({ path: store.place.path, code: "agent/file-damaged", reason, remedy: store.remedy })
})

/** Keeps the facts that the next wake of the process need not read again. */
const remember = Effect.fnUntraced(function*(wake: WakeState, report: Report) {
  const { open, request: { memory } } = wake
  if (memory === undefined) return
  wake.remember(memory, report)
  const store = yield* ControlStore
  const version = yield* store.version
  // A person may have saved after the file was read. The next wake compares the version with that of the older bytes.
  const isRead = version === wake.version || isSame(yield* store.read, open.bytes)
  memory.version = isRead ? version : wake.version
})

/**
 * Runs a wake. The caller holds the lease, except for a dry one, which runs and writes nothing.
 */
export const run = Effect.fn("Wake.run")(function*(request: Request): Effect.fn.Return<Report, Failure, Services> {
  const wake = yield* prepare(request)
  yield* wake.load()
  const quiet = wake.quiet()
  if (quiet !== undefined) {
    yield* remember(wake, quiet)
    return quiet
  }
  yield* wake.look()
  if (request.isDry === true) {
    wake.plan(wake.start)
    return yield* wake.report()
  }
  const course = new Course(wake)
  yield* course.recover()
  yield* course.run()
  yield* finish(wake)
  const report = yield* wake.report()
  yield* remember(wake, report)
  return report
})
