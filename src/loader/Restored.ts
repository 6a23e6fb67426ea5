/**
 * The earlier modules of a runtime: imported from their texts, or from a build that keeps them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { KernelSettings } from "../kernel/model/Limits.ts"
import { ModuleRestore } from "../kernel/model/ModuleRestore.ts"
import * as ServiceLayer from "../registry/ServiceLayer.ts"
import type { Provider } from "../registry/Services.ts"
import * as Loader from "./Loader.ts"
import { ModuleHost } from "./ModuleHost.ts"
import * as PluginServices from "./PluginServices.ts"

/**
 * Restores modules from their texts, for replays and for durable runs that began with them.
 *
 * A module was checked when it was loaded from its file, so its host imports are not checked again. The services of a plugin are built
 * once, and end with the runtime.
 */
export const layer: Layer.Layer<never, never, ModuleHost> = Layer.effect(
  ModuleRestore,
  Effect.gen(function*() {
    const host = yield* ModuleHost
    const { limits: { moduleMillis, serviceMillis } } = yield* KernelSettings
    const run = Effect.runPromiseWith(yield* Effect.context<Scope.Scope>())
    const built = new Map<string, Provider>()
    const servicesOf = Effect.fnUntraced(function*({ plugins: [found] }: Loader.LoadedModules) {
      if (found?.plugin.services === undefined) return undefined
      const { hash, plugin, text } = found
      const known = built.get(hash)
      if (known !== undefined) return known
      const label = PluginServices.labelOf(plugin)
      const building = ServiceLayer.build({ label, layer: plugin.services!, millis: serviceMillis })
      const context = yield* Effect.result(building)
      if (Result.isFailure(context)) return context.failure.reason
      const provider = { label, code: { plugin: plugin.name, hash, text }, context: context.success }
      built.set(hash, provider)
      return provider
    })
    return (hash, text) =>
      run(host.restore(hash, text).pipe(
        Loader.limitLoad(hash, moduleMillis),
        Effect.flatMap((loaded) => Effect.fromResult(Loader.decode(loaded))),
        Effect.flatMap((found) =>
          Effect.map(servicesOf(found), (services) => ({
            enzymes: found.enzymes.map(({ enzyme }) => enzyme),
            nodes: found.nodes.map(({ node }) => node),
            services
          }))),
        Effect.catch(({ reason }) => Effect.succeed(reason))
      ))
  })
)
