/**
 * The services of plugins: their layers, built by the kernel, and the enzymes that take them.
 *
 * A plugin whose services are refused is broken, with its enzymes. All other plugins stay.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Kernel } from "../kernel/space/Kernel.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { Provided } from "../registry/ServiceLayer.ts"
import * as Services from "../registry/Services.ts"
import { ModuleBroken } from "./ModuleHost.ts"
import type { Plugin } from "./Plugin.ts"

/** A plugin and its module. */
interface Given {
  readonly file: string
  readonly hash: string
  readonly text: string | undefined
  readonly plugin: Plugin
}

/** The built services of a plugin, with its module. */
export interface PluginProvider extends Pick<Given, "file" | "hash">, Pick<Provided, "retire"> {
  readonly provider: Services.Provider
}

/** The services of several plugins, and the plugins that are refused. */
export interface BuiltServices {
  readonly services: ReadonlyArray<PluginProvider>
  readonly broken: ReadonlyArray<ModuleBroken>
}

/** A plugin with a refused service, in its place. */
const brokenBy = (file: string, refusal: Services.ServiceRefused): ModuleBroken =>
  new ModuleBroken({ file, reason: refusal.message, refusal })

/** The label of a plugin. */
export const labelOf = ({ name }: Pick<Plugin, "name">): string => `the plugin "${name}"`

/** The refusal of a provider with a service of one before it. */
const taken = ({ label }: Services.Provider, key: string, { provider }: PluginProvider): Services.ServiceRefused => {
  const reason = `it provides ${JSON.stringify(key)}, which ${provider.label} provides, too. Leave one of the two out`
  return new Services.ServiceRefused({ code: "service/taken", label, reason })
}

/**
 * Builds the services of plugins. Those of a module that was built `before` are used again.
 */
export const build = Effect.fnUntraced(function*(
  plugins: ReadonlyArray<Given>,
  before: ReadonlyArray<PluginProvider>
): Effect.fn.Return<BuiltServices, never, Kernel> {
  const kernel = yield* Kernel
  const built = yield* Effect.forEach(plugins.filter(({ plugin }) => plugin.services !== undefined), (given) => {
    const { file, hash, plugin, text } = given
    const known = before.find((served) => served.file === file && served.hash === hash)
    if (known !== undefined) return Effect.succeed([file, Result.succeed(known)] as const)
    const label = labelOf(plugin)
    // A program that gives its modules itself has no texts of them.
    const code = hash === "" ? undefined : { plugin: plugin.name, hash, text }
    return kernel.provide(plugin.services!, label).pipe(
      Effect.map(({ context, retire }): PluginProvider => ({ file, hash, retire, provider: { label, code, context } })),
      Effect.result,
      Effect.map((result) => [file, result] as const)
    )
  }, { concurrency: "unbounded" })
  const services: Array<PluginProvider> = []
  const broken: Array<ModuleBroken> = []
  for (const [file, result] of built) {
    const refusal = Result.isFailure(result) ? result.failure : refusalOf(result.success, services)
    if (refusal !== undefined) broken.push(brokenBy(file, refusal))
    else if (Result.isSuccess(result)) services.push(result.success)
  }
  const fresh = built.flatMap(([, result]) => Result.isSuccess(result) ? [result.success] : [])
  yield* retire(fresh, [...services, ...before])
  return { services, broken }
})

/** Ends the layers of services that are not among those in use. */
export const retire = (all: ReadonlyArray<PluginProvider>, used: ReadonlyArray<PluginProvider>): Effect.Effect<void> =>
  Effect.forEach(all.filter((served) => !used.includes(served)), ({ retire }) => retire, { discard: true })

/** The refusal of services of which others have one already. */
const refusalOf = ({ provider }: PluginProvider, others: ReadonlyArray<PluginProvider>): Services.ServiceRefused | undefined => {
  for (const key of Services.provided(provider)) {
    const other = others.find((other) => other.provider.context.mapUnsafe.has(key))
    if (other !== undefined) return taken(provider, key, other)
  }
  return undefined
}

/** An enzyme with its services; fails with the reason why it cannot have them. */
export const bindServices = (
  { enzyme, file }: { readonly enzyme: Enzyme; readonly file: string },
  services: ReadonlyArray<PluginProvider>
): Result.Result<Services.BoundEnzyme, ModuleBroken> => {
  try {
    return Result.succeed(Services.bind(enzyme, services.map(({ provider }) => provider)))
  } catch (error) {
    if (error instanceof Services.ServiceRefused) return Result.fail(brokenBy(file, error))
    throw error
  }
}

/** A registered enzyme, and the providers of its services. */
interface Taker {
  readonly enzyme: Enzyme
  readonly services?: ReadonlyArray<Services.Provider>
}

/** Whether an enzyme has the services that the plugins provide now. */
export const stays = ({ enzyme, services = [] }: Taker, now: ReadonlyArray<PluginProvider> = []): boolean => {
  if (services.length === 0) return true
  const providers = now.map(({ provider }) => provider)
  return enzyme.services.every((key) => services.some((provider) => provider === Services.providerOf(key, providers)))
}
