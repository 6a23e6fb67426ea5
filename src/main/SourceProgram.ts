/**
 * The program of the installed command: a project from its sources.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Cli from "../cli/command/Cli.ts"
import { CliFailure, exits, from } from "../cli/CliFailure.ts"
import { defaults } from "../kernel/model/Limits.ts"
import * as Config from "../loader/Config.ts"
import * as Loader from "../loader/Loader.ts"
import { type LoadedModule, type ModuleBroken, ModuleHost } from "../loader/ModuleHost.ts"
import * as UnsetVariables from "../loader/UnsetVariables.ts"
import * as HostHash from "./host/HostHash.ts"
import * as HostModules from "./module/HostModules.ts"
import * as Installation from "./module/Installation.ts"
import type * as Main from "./Main.ts"
import * as PageModules from "./module/PageModules.ts"
import * as Permission from "./module/Permission.ts"
import * as PluginCommands from "./composition/PluginCommands.ts"
import * as PluginParts from "./composition/PluginParts.ts"
import * as Project from "./composition/Project.ts"
import * as Slices from "./composition/Slices.ts"

/**
 * The program of the project at `root`.
 */
export const program = (root: string, args: ReadonlyArray<string>): Main.Program => {
  const modulesOf = (isPassing: boolean) => Layer.fresh(
    Permission.isActive() ? Permission.bundled(root) : HostModules.layer(root, isPassing).pipe(Layer.provide(HostHash.layer))
  )
  const [modules, passing] = [modulesOf(false), modulesOf(true)]
  return {
    version: Installation.version(),
    args,
    plugins: Effect.provide(PluginCommands.commandsFor({ args, own: Cli.names(Slices.all), definition }), passing),
    installation: Installation.specifier(),
    modules,
    passing,
    pageModule: Permission.isActive() ? Permission.pageModule : PageModules.bundle,
    slices: Slices.all,
    config: (environment, isServed) =>
      Effect.provide(Effect.flatMap(loaded, ({ module, text }) =>
        Effect.flatMap(PluginParts.find(module, environment), (found) =>
          Config.decode(module, { environment, isServed, variables: process.env, parts: found.parts }).pipe(
            Effect.mapError((refusal) => PluginParts.explain(UnsetVariables.explain(refusal, text, process.env), found))
          ))), passing),
    configuration: Effect.map(loaded, ({ hash }) => hash),
    confine: (config) => confine(root, config),
    build: (request) =>
      Effect.flatMap(Effect.promise(() => import("./build/Build.ts")), ({ build }) =>
        Effect.flatMap(definition, (definition) =>
          Effect.flatMap(PluginParts.find(definition, request.environment), ({ parts }) =>
            build({ root, version: Installation.version(), definition, parts }, request)))).pipe(
          Effect.provide([modules, HostHash.layer]),
          Effect.mapError(from)
        )
  }
}

/** The used parts of the configuration's module. */
type Loaded = Partial<Pick<LoadedModule, "hash" | "module" | "text">>

/** The configuration's file, with a default export; without both if there is no file. */
const loaded: Effect.Effect<Loaded, Config.InvalidConfig | ModuleBroken, ModuleHost> = Effect.gen(function*() {
  const host = yield* ModuleHost
  if ((yield* host.files("."))?.includes(Config.FILE) !== true) return {}
  const found = yield* host.load(Config.FILE).pipe(Loader.limitLoad(Config.FILE, defaults.moduleMillis))
  if (found.module !== undefined) return found
  return yield* Effect.fail(new Config.InvalidConfig({ reason: "it has no default export. Write: export default defineConfig({ … })" }))
})

const definition = Effect.map(loaded, ({ module }) => module)

const confine = (root: string, config: Config.Config): Effect.Effect<void, CliFailure> => {
  const refuse = (message: string, exit: number = exits.usage) => new CliFailure({ exit, code: "host/unconfined", message })
  if (process.versions.bun !== undefined || process.versions["deno"] !== undefined) {
    return Effect.fail(refuse(
      "--permission is there on Node alone. On Deno, leave out -A and name what the process may do, such as --allow-read=. and " +
        "--allow-write=.data"
    ))
  }
  if (Permission.isActive()) return Effect.void
  if (process.execve === undefined) return Effect.fail(refuse(`--permission needs Node 23.11 or newer, and this is ${process.version}`))
  return Effect.provide(Permission.enter(root, config, Project.sourcesOf(config)), HostHash.layer).pipe(
    Effect.mapError(({ message }) => refuse(message, exits.failed))
  )
}
