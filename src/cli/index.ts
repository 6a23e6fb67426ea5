/**
 * The command line for the commands of plugins: all of `systole/cli`.
 *
 * - {@link Command}, {@link Argument}, {@link Flag}: the parts of a command.
 * - {@link Client}: a connection to the server of `--server`, to the running server of the project, or to its spaces in this process.
 * - {@link CliFailure}, {@link exits}: failures and their exit codes.
 * - {@link Output}, {@link PageList}: data as text or as JSON, and lists page by page.
 * - {@link Disk}: the files of the host.
 *
 * @module
 */
export * as Argument from "effect/cli/Argument"
export * as Command from "effect/cli/Command"
export * as Flag from "effect/cli/Flag"
export * as Printable from "../diagnostic/Printable.ts"
export { type Ask, Client, type Event } from "./Client.ts"
export { CliFailure, exitOf, exits, from } from "./CliFailure.ts"
export { copying, Disk, DiskFailed, type Process } from "./Disk.ts"
export * as Output from "./Output.ts"
export * as PageList from "./PageList.ts"
export { defineCommand, type PluginCommand, type Services } from "./PluginCommand.ts"
export { pluginSettings } from "./PluginSettings.ts"
export { type Answer, checkHandled } from "./SignalAnswer.ts"
export * as SpaceArgument from "./SpaceArgument.ts"
