/**
 * The commands of plugins, whose modules are imported when they are called.
 *
 * Those of first-party plugins are a fixed table, so they work before there is a configuration. A project's plugins add theirs after
 * its configuration is read.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import { posix } from "node:path"
import { pathToFileURL } from "node:url"
import * as Arguments from "../../cli/Arguments.ts"
import { type CliFailure, from } from "../../cli/CliFailure.ts"
import * as Output from "../../cli/Output.ts"
import type { PluginCommand } from "../../cli/PluginCommand.ts"
import { defaults } from "../../kernel/model/Limits.ts"
import * as Loader from "../../loader/Loader.ts"
import { ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import type { Plugin } from "../../loader/Plugin.ts"
import * as Installation from "../module/Installation.ts"
import * as PluginParts from "./PluginParts.ts"

/** The modules of the commands of first-party plugins, by the names of the commands. */
const firstParty: Readonly<Record<string, string>> = { agent: "systole/plugins/agent/commands" }

/** The names of the commands of first-party plugins. */
export const names: ReadonlyArray<string> = Object.keys(firstParty)

const load = (module: string): Effect.Effect<PluginCommand> => Effect.promise(async () => {
  const file = pathToFileURL(Installation.ownFile(module) ?? "").href
  return (await import(/* @vite-ignore */ file) as { readonly default: PluginCommand }).default
})

/** A command of a plugin of a project, before its module is imported. */
interface Declared {
  readonly name: string
  readonly file: string
}

/** The commands that a plugin declares, with the files of their modules in the project. */
export const declaredBy = (file: string, { commands }: Plugin): ReadonlyArray<Declared> =>
  Object.entries(commands).map(([name, module]) => ({ name, file: posix.join(posix.dirname(file), module) }))

/** Imports the module of a command of a project's plugin. */
export const importOf = Effect.fn("PluginCommands.importOf")(function*({ file, name }: Declared) {
  const host = yield* ModuleHost
  const { module } = yield* host.load(file).pipe(Loader.limitLoad(file, defaults.moduleMillis))
  if (Command.isCommand(module) && module.name === name) return module as unknown as PluginCommand
  const reason = `it is the module of the command "${name}" of a plugin, and its default export is no command of this name. ` +
    `Write: export default defineCommand(Command.make("${name}", …))`
  return yield* new ModuleBroken({ file, reason })
})

/** A command line, and the project that it is called in. */
export interface Call {
  readonly args: ReadonlyArray<string>
  /** The commands of the command line itself. */
  readonly own: ReadonlyArray<string>
  /** The default export of the configuration, whose failure is told by the commands that need it. */
  readonly definition: Effect.Effect<unknown, unknown, ModuleHost>
}

/** The commands of the plugins of a project that a call may mean. */
const ofProject = Effect.fnUntraced(function*({ args, definition, own }: Call): Effect.fn.Return<
  ReadonlyArray<PluginCommand>,
  CliFailure,
  ModuleHost
> {
  const name = Arguments.commandOf(args)
  const given = yield* Effect.orElseSucceed(definition, () => undefined)
  const plugins = PluginParts.foldersOf(given, Arguments.environmentOf(args))
  const commands = [...own, ...names]
  const found = yield* Loader.load({ enzymes: [], plugins, required: [], millis: defaults.moduleMillis, commands })
  const declared = found.plugins.flatMap(({ file, plugin }) => declaredBy(file, plugin))
  const called = declared.filter((each) => each.name === name)
  if (called.length > 0) return yield* Effect.mapError(Effect.forEach(called, importOf), from)
  for (const { message } of name === undefined ? [] : found.broken) yield* Output.note(message)
  // The help shows those that can be imported.
  const imported = yield* Effect.forEach(declared, (each) =>
    Effect.match(importOf(each), { onFailure: () => [], onSuccess: (command) => [command] }))
  return imported.flat()
})

/**
 * The commands of plugins that a command line may mean: the one that it names, or all of them if it names no command of the runtime,
 * as for the help.
 */
export const commandsFor = Effect.fn("PluginCommands.commandsFor")(function*(call: Call): Effect.fn.Return<
  ReadonlyArray<PluginCommand>,
  CliFailure,
  ModuleHost
> {
  const name = Arguments.commandOf(call.args)
  if (name !== undefined && call.own.includes(name)) return []
  if (name !== undefined && names.includes(name)) return [yield* load(firstParty[name]!)]
  const first = yield* Effect.forEach(Object.values(firstParty), load)
  return [...first, ...yield* ofProject(call)]
})
