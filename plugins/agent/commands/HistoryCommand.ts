/**
 * The commands of the agent that read its ledger: `status`, `explain`, `approve` and `history`.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Argument, CliFailure, Command, exits, Flag, Output } from "systole/cli"
import { Zone } from "systole/time"
import { SAVE } from "../cells/CellAgent.ts"
import { ControlStore } from "../store/ControlStore.ts"
import { SpaceClient } from "../order/SpaceClient.ts"
import * as Projection from "../wake/Projection.ts"
import * as Record from "../order/Record.ts"
import * as Schedules from "../schedule/Schedule.ts"
import * as Wake from "../wake/Wake.ts"
import * as ControlCell from "./ControlCell.ts"
import * as ReportOutput from "./ReportOutput.ts"
import * as WakeRequest from "./WakeRequest.ts"
import * as CommandSettings from "./CommandSettings.ts"

/** The most firings that `explain` prints. */
const MAX_NEXT = Schedules.MAX_FIRINGS

/** The plan of this moment, without a write. */
const looked = Effect.fnUntraced(function*(flags: CommandSettings.CellFlags, isReading: boolean = true) {
  const made = yield* WakeRequest.open(flags, isReading)
  const { ledger, request, store } = made
  const report = yield* Wake.run({ ...request, isDry: true }).pipe(
    Effect.provide(ledger),
    Effect.provideService(ControlStore, store)
  )
  return { ...made, report }
})

/** The command `status`. */
export const status = Command.make("status", { ...CommandSettings.cellFlags, json: Output.json }, ({ json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { report, store } = yield* looked(flags)
    const copies = yield* store.copies
    const shown = { ...report, copies }
    yield* Output.data(json, ReportOutput.json(shown), ReportOutput.plan(report.plan))
    for (const note of json ? [] : ReportOutput.notes(shown)) yield* Output.note(note)
  }))).pipe(Command.withDescription("Print the actions with their next times, held ones, and kept copies of the control file"))

/** The command `explain`. */
export const explain = Command.make("explain", {
  id: Argument.String("id").pipe(Argument.withDescription("The id of an action")),
  next: Flag.Int("next").pipe(
    Flag.withDescription(`The number of firings, at most ${MAX_NEXT}`),
    Flag.filter((count) => count >= 0 && count <= MAX_NEXT, (count) => `--next ${count} is not from 0 to ${MAX_NEXT}`),
    Flag.withDefault(1)
  ),
  ...CommandSettings.cellFlags,
  json: Output.json
}, ({ id, json, next, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { report: { plan, states } } = yield* looked(flags)
    const decision = plan.find(({ action }) => action.id === id)
    const state = states.get(id)
    if (decision === undefined || state === undefined) return yield* WakeRequest.absence(id)
    const now = yield* Clock.currentTimeMillis
    const times = Schedules.firings(decision.action.schedule, state.history, { now, count: next })
      .map((time) => Zone.isoOf(time, decision.action.zone))
    yield* Output.data(json, { id, decision: decision.kind, next: times }, [...ReportOutput.plan([decision]), ...times])
  }))).pipe(Command.withDescription("Print the decision on an action, and its next times"))

/** The command `approve`. */
export const approve = Command.make("approve", {
  hashes: Argument.String("hash").pipe(
    Argument.withDescription("The hash of an action, or its first 8 characters or more; none lists the held actions"),
    Argument.atLeast(0)
  ),
  ...CommandSettings.cellFlags,
  json: Output.json
}, ({ hashes, json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { cell, ledger, place, report: { held }, space } = yield* looked(flags, hashes.length === 0)
    const wrong = hashes.find((hash) => hash.length < MIN_HASH || held.filter((each) => each.hash.startsWith(hash)).length !== 1)
    if (wrong !== undefined) {
      return yield* new CliFailure({
        exit: exits.absent,
        code: "agent/hash-absent",
        message: `No single held action has the hash ${wrong}; systole agent approve lists them`
      })
    }
    const chosen = held.filter(({ hash }) => hashes.some((given) => hash.startsWith(given)))
    yield* Effect.forEach(chosen, ({ action: { id }, hash }) =>
      cell === undefined
        ? Effect.provide(SpaceClient.use((ledger) => ledger.set(Record.approval(place.key, hash), { action: id })), ledger)
        : ControlCell.approve({ cell: cell.name, hash, space }))
    const rows = hashes.length === 0 ? held : chosen
    yield* Output.data(json, rows.map(ReportOutput.program), ReportOutput.programs(rows))
  }))).pipe(Command.withDescription("Let new or changed shell actions run, by the hashes of their blocks"))

/** The fewest characters of a hash. */
const MIN_HASH = 8

/** The command `history`. */
export const history = Command.make("history", {
  id: Argument.String("id").pipe(Argument.withDescription("The id of an action; without one, all of them"), Argument.optional),
  restore: Flag.Boolean("restore").pipe(
    Flag.withDescription("Put the latest valid version of the control file back, and keep the present one as a copy"),
    Flag.withDefault(false)
  ),
  ...CommandSettings.cellFlags,
  json: Output.json
}, ({ id, json, restore, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { cell, ledger, store } = yield* WakeRequest.open(flags)
    if (restore && cell !== undefined) {
      const message = `--restore is for a file on a disk. Save a text in ${cell.name} with the signal ${SAVE}`
      return yield* new CliFailure({ exit: exits.usage, code: "agent/cell", message })
    }
    if (restore) {
      yield* store.lease("wake")
      const restored = yield* store.restore(yield* store.read)
      if (restored._tag === "Unknown") {
        return yield* new CliFailure({ exit: exits.absent, code: "agent/history-absent", message: "No valid version is known" })
      }
      if (restored._tag === "Changed") {
        const message = "The file was saved meanwhile; repeat the command"
        return yield* new CliFailure({ exit: exits.failed, code: "file/changed", message })
      }
      const { copy = null } = restored
      return yield* Output.data(json, { copy }, copy === null ? "restored" : `restored; the other version is ${copy}`)
    }
    const rows = yield* attempts(store.place.key, Option.getOrUndefined(id)).pipe(Effect.provide(ledger))
    const lines = Output.table(rows.map((record) => [
      Projection.moment(Record.beginOf(record)),
      record.action,
      record.status,
      record.attempts > 1 ? `${record.attempt}/${record.attempts}` : "",
      record.failure === undefined ? record.result ?? "" : `${record.failure.message} (${record.failure.code})`
    ]))
    yield* Output.data(json, rows, rows.flatMap(({ failure: { stderr } = {} }, i) =>
      [lines[i] ?? "", ...stderr === undefined ? [] : stderr.split("\n").map((line) => `    ${line}`)]))
  }))).pipe(Command.withDescription("Print the attempts of actions, oldest first; or restore the control file"))

/** The kept attempts of one action or all of them, oldest first. */
const attempts = Effect.fnUntraced(function*(file: string, id: string | undefined) {
  const ledger = yield* SpaceClient
  const ids = id === undefined ? yield* ledger.list(Record.history(file)) : [id]
  const found = yield* Effect.forEach(ids, (each) => ledger.get(`${Record.history(file)}/${each}`))
  const rows = found.flatMap((value) => Array.isArray(value) ? value.flatMap((each) => Record.read(each) ?? []) : [])
  return rows.sort((a, b) => a.startedAt - b.startedAt)
})
