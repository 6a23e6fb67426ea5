/**
 * Commands of plugins.
 *
 * @module
 */
import type { CliError } from "effect/cli/CliError"
import type * as Command from "effect/cli/Command"
import type * as GlobalFlag from "effect/cli/GlobalFlag"
import type { Hash } from "../persistence/Hash.ts"
import type { CliFailure } from "./CliFailure.ts"
import type { Disk } from "./Disk.ts"
import type { Host } from "./Host.ts"

/**
 * The services that a command of a plugin may use: those of the host, and the global flags.
 *
 * @category models
 * @since 0.2.0
 */
export type Services = Host | Disk | Hash | Command.Environment | GlobalFlag.Setting.Identifier<"data" | "env" | "server">

/**
 * A command of a plugin.
 *
 * @category models
 * @since 0.2.0
 */
export type PluginCommand = Command.Command<"plugin", never, unknown, CliFailure | CliError, Services>

/**
 * The command of a plugin, as the default export of its module. It has the name by which the plugin declares it.
 *
 * @example A command with an argument
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Argument, Client, Command, defineCommand, Output } from "systole/cli"
 *
 * export default defineCommand(
 *   Command.make("greet", { name: Argument.String("name"), json: Output.json }, ({ json, name }) =>
 *     Effect.gen(function*() {
 *       const client = yield* Client
 *       const greeting = yield* client.ask<string>(`/v1/spaces/home/cells/data/greetings/${name}`, { isValue: true })
 *       yield* Output.data(json, { greeting }, greeting)
 *     })).pipe(Command.withDescription("Print a greeting"), Command.provide(Client.layer))
 * )
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const defineCommand = <Name extends string, Input, Context, E extends CliFailure | CliError, R extends Services>(
  command: Command.Command<Name, Input, Context, E, R>
): PluginCommand => command as unknown as PluginCommand
