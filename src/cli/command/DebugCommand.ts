/**
 * `systole debug`: sets breakpoints in a space of `systole dev` and steps through it.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type { DebugReport } from "../../kernel/view/Space.ts"
import { Client } from "../Client.ts"
import * as IoCommand from "./IoCommand.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

const path = (space: string): string => `${SpaceArgument.path(space)}/debug`

/** Prints the state of the debugger. */
const print = (json: boolean, report: DebugReport) => {
  const { beat, breakpoints, held } = report
  const stops = breakpoints.length === 0 ? "" : `, stops before ${breakpoints.join(", ")}`
  return Output.data(json, report, `${held ? "held" : "running"} after beat ${beat}${stops}`)
}

const show = Command.make("show", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<DebugReport>(path(space))).pipe(Effect.flatMap((report) => print(json, report)))
).pipe(Command.withDescription("Show whether a space is held, and before which nodes it stops"), Command.provide(Client.layer))

const at = Command.make("at", {
  space: SpaceArgument.name,
  nodes: Argument.String("nodes").pipe(Argument.withDescription("The nodes; none, to stop nowhere"), Argument.variadic()),
  json: Output.json
}, ({ json, nodes, space }) =>
  Client.use((client) => client.ask<DebugReport>(path(space), { method: "PUT", body: { breakpoints: nodes } })).pipe(
    Effect.flatMap((report) => print(json, report))
  )
).pipe(Command.withDescription("Stop in the attached debugger before each run of these nodes"), Command.provide(Client.layer))

const step = Command.make("step", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<{ readonly beat: number }>(`${path(space)}/step`, { method: "POST" })).pipe(
    Effect.flatMap((report) => Output.data(json, report, `beat ${report.beat}; see systole beat show ${space} ${report.beat}`)))
).pipe(Command.withDescription("Run exactly one beat, and wait until it is durable"), Command.provide(Client.layer))

/**
 * The command `debug`.
 */
export const command = Command.make("debug").pipe(
  Command.withDescription("Step through a space of systole dev, which systole space hold keeps from running by itself; list drains"),
  Command.withSubcommands([show, at, step, IoCommand.drains])
)
