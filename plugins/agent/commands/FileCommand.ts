/**
 * The commands of the agent that need the control file alone: `init`, `check` and `fmt`.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { CliFailure, Command, Disk, exits, Output, Printable } from "systole/cli"
import * as CellFile from "../cells/CellFile.ts"
import * as ControlFiles from "../document/ControlFile.ts"
import { ControlStore } from "../store/ControlStore.ts"
import { format } from "../document/Format.ts"
import * as Issues from "../text/Issue.ts"
import * as SpaceClients from "../order/SpaceClient.ts"
import { OpenFile } from "../store/OpenFile.ts"
import * as AbsentChannels from "./AbsentChannels.ts"
import * as WakeRequest from "./WakeRequest.ts"
import * as CommandSettings from "./CommandSettings.ts"

/** A new control file. */
const TEMPLATE = `---
version: 1
status: idle
---

# Heartbeat

## Pending Actions

### [MEDIUM] Check the example site
- **id**: example
- **type**: http_check
- **target**: https://example.com/
- **schedule**: every:1h
- **status**: pending

## Completed Today

## Notes
`

/** The command `init`. */
export const init = Command.make("init", { ...CommandSettings.flags, json: Output.json }, ({ json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const disk = yield* Disk
    const { place: { path } } = yield* WakeRequest.make(flags)
    if (!(yield* disk.create(path, ControlFiles.encode(TEMPLATE)))) {
      return yield* new CliFailure({ exit: exits.failed, code: "file/exists", message: `${path} is there already, and stays as it is` })
    }
    yield* Output.data(json, { path }, path)
    yield* Output.note("Configure agent: {} and the channel http in systole.config.ts, and go on with: systole agent wake")
  }))).pipe(Command.withDescription("Write a first control file"))

/** The code of a warning about a file in a cell. */
const LIMIT = "agent/cell-limit"

/** The command `check`. */
export const check = Command.make("check", { ...CommandSettings.cellFlags, json: Output.json }, ({ json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { cell, ledger, place, request: { settings }, space, store } = yield* WakeRequest.open(flags)
    const types = yield* SpaceClients.types.pipe(Effect.provide(ledger))
    const { file, file: { actions, issues } } = yield* OpenFile.open({ ...settings.defaults, types }, true).pipe(
      Effect.provideService(ControlStore, store)
    )
    const limits = cell === undefined ? [] : [...cell.misfit === undefined ? [] : [cell.misfit], ...CellFile.absentFacts(file)]
    const all = [
      ...(yield* AbsentChannels.of(file, space)).map((issue) => [issue, Issues.render(issue)] as const),
      ...issues.map((issue) => [issue, Issues.render(issue)] as const),
      ...limits.map((message) => [{ code: LIMIT, severity: "warning", message }, `warning ${LIMIT}: ${message}`] as const)
    ].slice(0, ControlFiles.MAX_ISSUES)
    const lines = [...all.map(([, line]) => line), `${Printable.count(actions.length, "action")}, ${Printable.count(all.length, "issue")}`]
    yield* Output.data(json, all.map(([issue]) => issue), lines)
    if (issues.every(({ severity }) => severity === "warning")) return
    const message = `${place.path} has errors; actions with one do not run`
    return yield* new CliFailure({ exit: exits.failed, code: "agent/invalid", message })
  }))).pipe(Command.withDescription("Print the errors and warnings of the control file"))

/** The command `fmt`. */
export const fmt = Command.make("fmt", { ...CommandSettings.flags, json: Output.json }, ({ json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { place, request: { settings }, store } = yield* WakeRequest.make(flags)
    yield* store.lease("wake")
    const { bytes, file } = yield* OpenFile.open({ ...settings.defaults, types: undefined }, true).pipe(
      Effect.provideService(ControlStore, store)
    )
    const text = ControlFiles.isDamaged(file) ? file.text : format(file)
    const isChanged = text !== file.text
    if (isChanged && (yield* store.replace(bytes, ControlFiles.encode(text)))._tag === "Changed") {
      const message = `${place.path} was saved meanwhile, and stays as it is; repeat the command`
      return yield* new CliFailure({ exit: exits.failed, code: "file/changed", message })
    }
    yield* Output.data(json, { isChanged }, isChanged ? `${place.path} is changed` : `${place.path} stays as it is`)
  }))).pipe(Command.withDescription("Bring headings and fields of actions into their plain form, and add a missing status"))
