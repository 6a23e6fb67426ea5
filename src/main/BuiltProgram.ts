/**
 * The program of a build: a project with its modules and its configuration in one bundle.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import process from "node:process"
import * as Arguments from "../cli/Arguments.ts"
import { CliFailure, exits } from "../cli/CliFailure.ts"
import * as Config from "../loader/Config.ts"
import type { ModuleHost } from "../loader/ModuleHost.ts"
import type { BuiltProject } from "./composition/Built.ts"
import type * as Main from "./Main.ts"
import * as ManifestModules from "./module/ManifestModules.ts"

/**
 * The program of a build. Without the name of a command, it starts the project.
 */
export const program = (built: BuiltProject, args: ReadonlyArray<string>): Main.Program => ({
  plugins: Effect.succeed(built.commands ?? []),
  version: built.version,
  installation: built.version,
  args: withCommand(args),
  modules: modules(built),
  slices: built.slices,
  config: (environment, isServed) => config(built, environment, isServed),
  confine: () => refuse("--permission bundles the modules of a project, and this is a build. Run it with the options of Node itself"),
  build: () => refuse("this is a build already. Build in the folder of the project")
})

/** Flags that stand without a command. */
const INFORMING: ReadonlySet<string> = new Set(["--help", "-h", "--version", "-v", "--completions"])

/**
 * The arguments of a build with a command: `start`, unless they name one or ask for information.
 */
export const withCommand = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const first = Arguments.first(args)
  return first === undefined || first.startsWith("-") && !INFORMING.has(first) ? ["start", ...args] : args
}

const refuse = (message: string) => Effect.fail(new CliFailure({ exit: exits.usage, code: "build/source", message }))

/**
 * The modules of a build. Their texts lie beside it, so that its stores hold the code that they ran.
 */
export const modules = ({ kept, manifest }: BuiltProject): Layer.Layer<ModuleHost> => ManifestModules.layer(manifest, { kept, textOf })

/** Reads the text of a module; `undefined` if the folder of texts was left out. */
const textOf = (hash: string): string | undefined => {
  try {
    return readFileSync(new URL(`./modules/${hash}.mjs`, import.meta.url), "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/**
 * The configuration of a build, with the tokens of this process.
 */
export const config = (
  { environment: own, hasToken, settings }: BuiltProject,
  environment = own,
  isServed = true
): Effect.Effect<Config.Config, Config.InvalidConfig> => {
  const refuse = (reason: string) => Effect.fail(new Config.InvalidConfig({ reason }))
  if (environment !== own) {
    return refuse(`this is a build for ${own === undefined ? "no environment" : `"${own}"`}. Build again with --env ${environment}`)
  }
  if (isServed && hasToken && process.env["SYSTOLE_TOKEN"] === undefined) {
    return refuse("the project has a token, and a build contains none. Set SYSTOLE_TOKEN in the environment")
  }
  const { check, create } = settings
  return Config.withSecrets({ ...settings, check, create, token: undefined }, process.env, isServed)
}
