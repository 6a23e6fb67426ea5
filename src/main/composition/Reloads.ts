/**
 * The reloads of a development host: after each change of a file, the changed modules are swapped between beats.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import * as Config from "../../loader/Config.ts"
import type { InvalidConfig } from "../../loader/InvalidConfig.ts"
import * as Loader from "../../loader/Loader.ts"
import { type Change, type ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import * as ReloadResult from "../../loader/ReloadResult.ts"

/** The digest of the configuration's file with all that it imports; `undefined` without a file. */
export type Configuration = Effect.Effect<string | undefined, ModuleBroken | InvalidConfig, ModuleHost>

/** The loaded modules, with the sources and the services to load them again. */
export interface Parts {
  readonly found: Loader.LoadedModules
  readonly sources: Loader.Sources
  readonly configuration: Configuration
  readonly reporter: Reporter
  readonly context: Context.Context<Kernel | ModuleHost>
}

/** The state from which a reload starts. */
interface State {
  readonly found: Loader.LoadedModules
  readonly digest: string | undefined
  /** The message of a configuration that cannot be loaded. It is reported once. */
  readonly failure?: string | undefined
}

/**
 * The reloads, from the configuration of this moment on. Modules are watched while the stream runs.
 */
export const make = (
  { configuration, context, found, reporter, sources }: Parts
): Effect.Effect<Stream.Stream<ReloadResult.ReloadResult>> => {
  const next = (before: State, change: Change) =>
    Effect.gen(function*() {
      const found = yield* Loader.reload(before.found, sources)
      const millis = Math.round(change.age())
      const loaded = yield* Effect.result(configuration)
      const failure = Result.isFailure(loaded) ? loaded.failure : undefined
      if (failure !== undefined && failure.message !== before.failure) reporter.report(UnexpectedFailure.of(failure))
      const digest = Result.isSuccess(loaded) ? loaded.success : before.digest
      const reload: ReloadResult.ReloadResult = {
        ...ReloadResult.between(before.found, found),
        found,
        files: named(change.files(), changedModules(before.found, found)),
        millis,
        restart: [...digest === before.digest ? [] : [Config.FILE], ...ReloadResult.changedPlugins(before.found, found)]
      }
      const now: State = { found, digest, failure: failure?.message }
      return [now, ReloadResult.isEmpty(reload) ? [] : [reload]] as const
    })
  const first = Effect.map(Effect.result(configuration), (loaded): State =>
    ({ found, digest: Result.isSuccess(loaded) ? loaded.success : undefined }))
  const { changes } = Context.get(context, ModuleHost)
  return Effect.map(first, (state) =>
    changes.pipe(Stream.mapAccumEffect(() => state, next), Stream.provideContext(context))).pipe(
      Effect.provideContext(context)
    )
}

/** The files of new, changed and broken modules. */
const changedModules = (before: Loader.LoadedModules, now: Loader.LoadedModules): ReadonlyArray<string> => {
  const changed = [
    ...now.enzymes.filter((item) => !before.enzymes.includes(item)),
    ...now.nodes.filter((item) => !before.nodes.includes(item)),
    ...now.broken
  ]
  return [...new Set(changed.map(({ file }) => file))]
}

/** The changed files without the passing ones that an editor writes beside them. If nobody told them, the changed modules. */
const named = (files: ReadonlyArray<string>, modules: ReadonlyArray<string>): ReadonlyArray<string> => {
  const code = files.filter((file) => /\.(?:[cm]?[jt]sx?|json)$/.test(file))
  return code.length > 0 ? code : files.length > 0 ? files : modules
}
