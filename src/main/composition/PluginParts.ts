/**
 * The plugins whose settings a configuration may have.
 *
 * A configuration names its plugins, so it is looked at before it is decoded: a field that the runtime does not have may be the part of
 * a plugin. Without such a field, no plugin is loaded.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { pathToFileURL } from "node:url"
import { defaults } from "../../kernel/model/Limits.ts"
import * as Config from "../../loader/Config.ts"
import * as Loader from "../../loader/Loader.ts"
import type { ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import type { Plugin } from "../../loader/Plugin.ts"
import * as Installation from "../module/Installation.ts"

/** The first-party plugins with settings. */
const firstParty = ["agent"]

/** The parts, and the modules of plugins that are broken. */
export interface FoundParts {
  readonly parts: Config.Parts
  readonly broken: ReadonlyArray<ModuleBroken>
}

const none: FoundParts = { parts: {}, broken: [] }

const own = (name: string): Effect.Effect<Plugin> => Effect.promise(async () => {
  const file = pathToFileURL(Installation.ownFile(`systole/plugins/${name}`) ?? "").href
  return (await import(/* @vite-ignore */ file) as { readonly default: Plugin }).default
})

/** The folders of plugins that a definition names in an environment. */
export const foldersOf = (definition: unknown, environment: string | undefined): ReadonlyArray<string> => {
  interface Given {
    readonly environments?: Readonly<Record<string, unknown>>
    readonly plugins?: unknown
  }
  const { environments, plugins } = Object(definition) as Given
  const chosen = (environment === undefined ? undefined : Object(environments?.[environment]) as Given)?.plugins
  const folders = chosen ?? plugins ?? ["plugins"]
  return Array.isArray(folders) ? folders.filter((folder) => typeof folder === "string") : []
}

/** The parts that a definition may have. */
export const find = Effect.fn("PluginParts.find")(function*(
  definition: unknown,
  environment: string | undefined
): Effect.fn.Return<FoundParts, never, ModuleHost> {
  const foreign = Config.foreignFields(definition)
  if (foreign.length === 0) return none
  const first = yield* Effect.forEach(firstParty, own)
  if (foreign.every((name) => firstParty.includes(name))) return { parts: Config.partsOf(first), broken: [] }
  const plugins = foldersOf(definition, environment)
  const { broken, plugins: found } = yield* Loader.load({ enzymes: [], plugins, required: [], millis: defaults.moduleMillis })
  return { parts: Config.partsOf([...first, ...found.map(({ plugin }) => plugin)]), broken }
})

/** The refusal of a configuration with the reasons of broken plugins, one of which may have the field that is missing. */
export const explain = (refusal: Config.InvalidConfig, { broken }: FoundParts): Config.InvalidConfig =>
  broken.length === 0
    ? refusal
    : new Config.InvalidConfig({ ...refusal, reason: [refusal.reason, ...broken.map(({ message }) => message)].join(". ") })
