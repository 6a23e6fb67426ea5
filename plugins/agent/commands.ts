/**
 * `systole agent`: runs the actions of a control file.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { Client, CliFailure, Command, defineCommand, exits, Flag, Output } from "systole/cli"
import { ControlStore } from "./store/ControlStore.ts"
import * as AgentDaemon from "./wake/AgentDaemon.ts"
import * as Wake from "./wake/Wake.ts"
import * as AgainCommand from "./commands/AgainCommand.ts"
import * as FileCommand from "./commands/FileCommand.ts"
import * as HistoryCommand from "./commands/HistoryCommand.ts"
import * as HttpSpaceClient from "./commands/HttpSpaceClient.ts"
import * as ReportOutput from "./commands/ReportOutput.ts"
import * as WakeRequest from "./commands/WakeRequest.ts"
import * as CommandSettings from "./commands/CommandSettings.ts"

/** Prints a report. */
const print = Effect.fnUntraced(function*(report: Wake.Report, json: boolean) {
  yield* Output.data(json, ReportOutput.json(report), ReportOutput.ran(report))
  for (const note of json ? [] : ReportOutput.notes(report)) yield* Output.note(note)
})

/** Fails if an attempt failed that the wake began, or that ended since the wake before. */
const judge = ({ earlier, ran }: Wake.Report): Effect.Effect<void, CliFailure> => {
  const failed = [...earlier, ...ran].filter(({ record }) => record.status === "failed").map(({ action }) => action.id)
  if (failed.length === 0) return Effect.void
  return Effect.fail(new CliFailure({
    exit: exits.failed,
    code: "agent/action-failed",
    message: `${failed.join(", ")} failed; the control file has the errors`
  }))
}

/** The client of a command of the agent. */
const clientFor = (isReading: boolean) => Client.layerWithPlugin("agent", isReading)

const wake = Command.make("wake", {
  ...CommandSettings.flags,
  dry: Flag.Boolean("dry-run").pipe(Flag.withDescription("Print the plan; run and write nothing"), Flag.withDefault(false)),
  force: Flag.Boolean("force").pipe(
    Flag.withDescription("Run all actions, due or not; dependencies and conditions hold"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ dry, force, json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { ledger, request, store } = yield* WakeRequest.make(flags, dry)
    if (!dry) yield* store.lease("wake")
    const report = yield* Wake.run({ ...request, forced: force ? "all" : undefined, isDry: dry }).pipe(
      Effect.provide(ledger),
      Effect.provideService(ControlStore, store)
    )
    if (!dry) return yield* Effect.andThen(print(report, json), judge(report))
    yield* Output.data(json, ReportOutput.json(report), ReportOutput.plan(report.plan))
    for (const note of json ? [] : ReportOutput.notes(report)) yield* Output.note(note)
  }))).pipe(
    Command.withDescription("Run the actions that are due, and write their status into the control file"),
    Command.provide(({ dry }) => clientFor(dry))
  )

const run = Command.make("run", { ...CommandSettings.flags, json: Output.json }, ({ json, ...flags }) =>
  WakeRequest.withFailures(Effect.gen(function*() {
    const { place, request, space, store } = yield* WakeRequest.make(flags)
    yield* store.lease("run")
    yield* Output.note(`the agent runs ${place.path}`)
    return yield* AgentDaemon.run(place.folder, request, (woken) =>
      "ran" in woken ? print(woken, json) : Output.note(`${woken.message} (${woken.code})`)).pipe(
        Effect.provide(HttpSpaceClient.layer(space)),
        Effect.provideService(ControlStore, store)
      )
  }))).pipe(Command.withDescription("Stay, and wake when an action is due or the control file changes"))

export default defineCommand(Command.make("agent").pipe(
  Command.withDescription("Run the actions of a control file, heartbeat.md"),
  Command.withSubcommands([
    FileCommand.init,
    wake,
    run.pipe(Command.provide(clientFor(false))),
    HistoryCommand.status.pipe(Command.provide(clientFor(true))),
    FileCommand.check.pipe(Command.provide(clientFor(true))),
    FileCommand.fmt,
    HistoryCommand.explain.pipe(Command.provide(clientFor(true))),
    HistoryCommand.approve.pipe(Command.provide(({ hashes }) => clientFor(hashes.length === 0))),
    AgainCommand.again.pipe(Command.provide(clientFor(false))),
    HistoryCommand.history.pipe(Command.provide(clientFor(true)))
  ])
))
