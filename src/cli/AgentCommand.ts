/**
 * `systole agent`: runs the actions of a control file.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { ControlStore } from "../agent/store/ControlStore.ts"
import * as Resident from "../agent/wake/Resident.ts"
import * as Wake from "../agent/wake/Wake.ts"
import * as AgentAgainCommand from "./AgentAgainCommand.ts"
import * as AgentFileCommand from "./AgentFileCommand.ts"
import * as AgentHistoryCommand from "./AgentHistoryCommand.ts"
import * as AgentLedger from "./AgentLedger.ts"
import * as AgentOutput from "./AgentOutput.ts"
import * as AgentRequest from "./AgentRequest.ts"
import * as AgentSettings from "./AgentSettings.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"

/** Prints a report. */
const print = Effect.fnUntraced(function*(report: Wake.Report, json: boolean) {
  yield* Output.data(json, AgentOutput.json(report), AgentOutput.ran(report))
  for (const note of json ? [] : AgentOutput.notes(report)) yield* Output.note(note)
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
const clientFor = (isReading: boolean) => Client.layerFor(AgentSettings.withAgent, isReading)

const wake = Command.make("wake", {
  ...AgentSettings.flags,
  dry: Flag.Boolean("dry-run").pipe(Flag.withDescription("Print the plan; run and write nothing"), Flag.withDefault(false)),
  force: Flag.Boolean("force").pipe(
    Flag.withDescription("Run all actions, due or not; dependencies and conditions hold"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ dry, force, json, ...flags }) =>
  AgentRequest.failing(Effect.gen(function*() {
    const { ledger, request, store } = yield* AgentRequest.make(flags, dry)
    if (!dry) yield* store.lease("wake")
    const report = yield* Wake.run({ ...request, forced: force ? "all" : undefined, isDry: dry }).pipe(
      Effect.provide(ledger),
      Effect.provideService(ControlStore, store)
    )
    if (!dry) return yield* Effect.andThen(print(report, json), judge(report))
    yield* Output.data(json, AgentOutput.json(report), AgentOutput.plan(report.plan))
    for (const note of json ? [] : AgentOutput.notes(report)) yield* Output.note(note)
  }))).pipe(
    Command.withDescription("Run the actions that are due, and write their status into the control file"),
    Command.provide(({ dry }) => clientFor(dry))
  )

const run = Command.make("run", { ...AgentSettings.flags, json: Output.json }, ({ json, ...flags }) =>
  AgentRequest.failing(Effect.gen(function*() {
    const { place, request, space, store } = yield* AgentRequest.make(flags)
    yield* store.lease("run")
    yield* Output.note(`the agent runs ${place.path}`)
    return yield* Resident.run(place.folder, request, (woken) =>
      "ran" in woken ? print(woken, json) : Output.note(`${woken.message} (${woken.code})`)).pipe(
        Effect.provide(AgentLedger.layer(space)),
        Effect.provideService(ControlStore, store)
      )
  }))).pipe(Command.withDescription("Stay, and wake when an action is due or the control file changes"))

/**
 * The command `agent`.
 */
export const command = Command.make("agent").pipe(
  Command.withDescription("Run the actions of a control file, heartbeat.md"),
  Command.withSubcommands([
    AgentFileCommand.init,
    wake,
    run.pipe(Command.provide(clientFor(false))),
    AgentHistoryCommand.status.pipe(Command.provide(clientFor(true))),
    AgentFileCommand.check.pipe(Command.provide(clientFor(true))),
    AgentFileCommand.fmt,
    AgentHistoryCommand.explain.pipe(Command.provide(clientFor(true))),
    AgentHistoryCommand.approve.pipe(Command.provide(({ hashes }) => clientFor(hashes.length === 0))),
    AgentAgainCommand.again.pipe(Command.provide(clientFor(false))),
    AgentHistoryCommand.history.pipe(Command.provide(clientFor(true)))
  ])
)
