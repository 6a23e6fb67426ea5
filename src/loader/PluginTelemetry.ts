/**
 * The telemetry of plugins: the loggers, the tracer and the exporters of metrics that their layers give.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import type { Reporter } from "../diagnostic/Reporter.ts"
import type { LoadedModules } from "./Loader.ts"
import * as TimedLayer from "./TimedLayer.ts"

/** The choices of the runtime: the time limit of one layer, in milliseconds, and the reporter of those that fail. */
interface Rules {
  readonly millis: number
  readonly reporter: Pick<Reporter, "report">
}

/**
 * Builds the telemetry of all plugins, until the scope closes. Loggers add up; of two tracers, that of the later plugin counts. A layer
 * that fails, or that is not built in time, is reported under the name of its plugin, and left out.
 */
export const open = Effect.fnUntraced(function*(
  { plugins }: Pick<LoadedModules, "plugins">,
  { millis, reporter }: Rules
): Effect.fn.Return<Context.Context<never>, never, Scope.Scope> {
  // By name, since a plugin may have a copy of the library, with a default registry of its own.
  let all: Context.Context<never> = Context.make(Metric.MetricRegistry, yield* Metric.MetricRegistry)
  for (const { file, plugin: { name, telemetry } } of plugins) {
    if (telemetry === undefined) continue
    const limit = { millis, late: () => Effect.fail(`it is not built within ${millis} ms, the limit moduleMillis`) }
    const building = TimedLayer.build(telemetry, limit)
    const registry = Context.get(all, Metric.MetricRegistry)
    const built = yield* Effect.exit(Effect.provideService(building, Metric.MetricRegistry, registry))
    if (Exit.isSuccess(built)) all = merged(all, built.value)
    else reporter.report(failed(`the telemetry of plugin "${name}" (${file})`, Cause.squash(built.cause)))
  }
  return all
})

/** Whether a plugin takes the telemetry of the runtime. */
export const isGiven = ({ plugins }: Pick<LoadedModules, "plugins">): boolean =>
  plugins.some(({ plugin }) => plugin.telemetry !== undefined)

const merged = (all: Context.Context<never>, more: Context.Context<never>): Context.Context<never> => {
  const [known, loggers] = [Context.getOrUndefined(all, Logger.CurrentLoggers), Context.getOrUndefined(more, Logger.CurrentLoggers)]
  const both = Context.merge(all, more)
  return known === undefined || loggers === undefined ? both : Context.add(both, Logger.CurrentLoggers, new Set([...known, ...loggers]))
}

const failed = (what: string, cause: unknown) => ({
  ...Diagnostic.of("telemetry/failed", {
    note: `${what} is left out: ${cause instanceof Error ? cause.message : String(cause)}`,
    origin: { kind: "runtime", name: "host" },
    subject: undefined
  }),
  space: undefined,
  beat: undefined,
  cause
})
