/**
 * `systole agent`: runs the actions of a control file.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { Disk } from "../agent/Disk.ts"
import * as Lease from "../agent/Lease.ts"
import * as StoredFile from "../agent/StoredFile.ts"
import * as Wake from "../agent/Wake.ts"
import * as AgentLedger from "./AgentLedger.ts"
import * as AgentOutput from "./AgentOutput.ts"
import * as AgentSettings from "./AgentSettings.ts"
import { CliFailure, exits, from } from "./CliFailure.ts"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"

/** The key of this process for actions that run at its start. */
const startup = Effect.gen(function*() {
  const { process: { host, pid } } = yield* Disk
  return `${host}.${pid}.${yield* Clock.currentTimeMillis}`
})

/** Fails if an attempt of the wake failed. */
const judge = ({ ran }: Wake.Report): Effect.Effect<void, CliFailure> => {
  const failed = ran.filter(({ record }) => record.status === "failed").map(({ action }) => action.id)
  if (failed.length === 0) return Effect.void
  return Effect.fail(new CliFailure({
    exit: exits.failed,
    code: "agent/action-failed",
    message: `${failed.join(", ")} failed; the control file has the errors`
  }))
}

/** Prints a report, and fails if an attempt failed. */
const tell = Effect.fnUntraced(function*(report: Wake.Report, json: boolean) {
  yield* Output.data(json, AgentOutput.json(report), AgentOutput.ran(report))
  for (const note of json ? [] : AgentOutput.notes(report)) yield* Output.note(note)
  yield* judge(report)
})

const wake = Command.make("wake", {
  ...AgentSettings.flags,
  dry: Flag.Boolean("dry-run").pipe(Flag.withDescription("Print the plan; run and write nothing"), Flag.withDefault(false)),
  force: Flag.Boolean("force").pipe(
    Flag.withDescription("Run all actions, due or not; dependencies and conditions hold"),
    Flag.withDefault(false)
  ),
  json: Output.json
}, ({ dry, force, json, ...flags }) =>
  Effect.gen(function*() {
    const { file, settings, space } = yield* AgentSettings.resolve(flags)
    const place = yield* StoredFile.place(file)
    const request: Wake.Request = { place, settings, startup: yield* startup, forced: force ? "all" : undefined, isDry: dry }
    if (!dry) yield* Lease.take(place, "wake")
    const report = yield* Wake.run(request).pipe(Effect.provide(AgentLedger.layer(space)))
    if (!dry) return yield* tell(report, json)
    yield* Output.data(json, AgentOutput.json(report), AgentOutput.plan(report.plan))
    for (const note of json ? [] : AgentOutput.notes(report)) yield* Output.note(note)
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => Effect.fail(error instanceof CliFailure ? error : from(error)))
  )).pipe(Command.withDescription("Run the actions that are due, and write their status into the control file"))

/**
 * The command `agent`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("agent").pipe(
  Command.withDescription("Run the actions of a control file, heartbeat.md"),
  Command.withSubcommands([wake]),
  Command.provide(Client.layerWith(AgentSettings.withAgent))
)

