/**
 * The commands of plugins, whose modules are imported when they are called.
 *
 * Those of first-party plugins are a fixed table, so they work before there is a configuration.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { pathToFileURL } from "node:url"
import * as Arguments from "../cli/Arguments.ts"
import type { PluginCommand } from "../cli/PluginCommand.ts"
import * as Installation from "./Installation.ts"

/** The modules of the commands of first-party plugins, by the names of the commands. */
const firstParty: Readonly<Record<string, string>> = { agent: "systole/plugins/agent/commands" }

const load = (module: string): Effect.Effect<PluginCommand> => Effect.promise(async () => {
  const file = pathToFileURL(Installation.ownFile(module) ?? "").href
  return (await import(/* @vite-ignore */ file) as { readonly default: PluginCommand }).default
})

/**
 * The commands of plugins that a command line may mean: the one that it names, or all of them if it names no command, as for the help.
 */
export const called = (args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<PluginCommand>> => {
  const name = Arguments.commandOf(args)
  const own = name === undefined ? undefined : Object.hasOwn(firstParty, name) ? firstParty[name] : undefined
  return Effect.forEach(own === undefined ? Object.values(firstParty) : [own], load)
}
