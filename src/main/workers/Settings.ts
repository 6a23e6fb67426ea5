/**
 * The settings of a Worker: its configuration under the bindings of its environment, decoded once per isolate.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { line, Reporter } from "../../diagnostic/Reporter.ts"
import * as Config from "../../loader/Config.ts"
import { withPlace } from "../../loader/InvalidConfig.ts"
import * as Loader from "../../loader/Loader.ts"
import type { ModuleHost } from "../../loader/ModuleHost.ts"
import * as Outside from "../../loader/Outside.ts"
import * as Plugin from "../../loader/Plugin.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Bearer } from "../../ingress/access/Access.ts"
import type { Hash } from "../../persistence/Hash.ts"
import type { BuiltProject } from "../composition/Built.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import * as Webhooks from "../../ingress/Webhooks.ts"
import * as HostLimits from "../host/HostLimits.ts"
import * as Jwts from "../composition/Jwts.ts"
import * as ManifestModules from "../module/ManifestModules.ts"
import { hash } from "../../persistence/PureSha256.ts"
import * as Slices from "../composition/Slices.ts"
import * as Gate from "./Gate.ts"
import type { Env } from "./Platform.ts"

/** The modules and the configuration of a Worker, as its entry gives them. */
export interface Parts {
  readonly manifest: ManifestModules.Manifest
  /**
   * The configuration, as in `systole.config.ts`, or its function of the bindings. The settings `persistence`, `data`, `host`
   * and `port` have no effect: each space is stored in its object.
   */
  readonly config?: Config.Definition | ((env: Env) => Config.Definition)
  /** Allows unauthenticated access. Without it, there must be a token: the secret `SYSTOLE_TOKEN`, or `config.token`. */
  readonly public?: true
}

/** The decoded settings. */
export interface Settings extends Gate.Gate {
  readonly modules: Layer.Layer<ModuleHost>
  /** The loaded modules. The first object of an isolate loads them for all. */
  readonly load: Effect.Effect<Loader.LoadedModules>
  readonly slices: ReadonlyArray<Slice>
  readonly config: Config.Config
  /** The place of the configuration, in words. */
  readonly place: string
  readonly hash: Hash["Service"]
  readonly reporter: Reporter
  /** Makes the answers of webhooks. A build without a webhook has no byte of it. */
  readonly webhooks: BuiltProject["webhooks"]
  /** The paths of the scripts of pages among the assets, as a build has them. */
  readonly scripts?: BuiltProject["scripts"]
  /** Decides on JSON Web Tokens. A build without them has no byte of their library. */
  readonly jwts: Bearer | undefined
}

/** The place of the configuration of a Worker that is written by hand. */
const PLACE = "the field config of make() of systole/workers"

/**
 * Decodes the settings of a Worker.
 *
 * @throws InvalidConfig
 */
export const make = (parts: Parts, env: Env): Settings => {
  try {
    return decoded(parts, env)
  } catch (failure) {
    throw withPlace(failure, PLACE)
  }
}

const decoded = ({ config: given, manifest, public: isPublic }: Parts, env: Env): Settings => {
  const definition = typeof given === "function" ? given(env) : given ?? {}
  const parts = Config.partsOf(Object.values(manifest).map(({ module }) => module).filter(Plugin.is))
  const config = Effect.runSync(Config.decode(definition, { variables: Gate.variablesOf(env), parts }))
  const slices = Slices.without(Slices.all, config.without)
  const gate = Gate.make({ ...Outside.of(config), ...config }, isPublic === true, env)
  const modules = ManifestModules.layer(manifest)
  return opened(config, { modules, slices, gate, place: PLACE, webhooks: Webhooks.make, verifier: Jwts.verifier })
}

/**
 * The settings of a build, whose configuration was decoded when it was made, behind its gate. The tokens are secrets of the Worker.
 *
 * @throws InvalidConfig
 */
export const ofBuild = (built: BuiltProject, env: Env, gate: Gate.Gate): Settings => {
  const { kept, manifest, scripts, slices, jwt, settings: { check, create, ...settings }, webhooks } = built
  const unsecured = { ...settings, ...Gate.UNSECURED, check, create }
  const config = Effect.runSync(Config.withSecrets(unsecured, Gate.variablesOf(env)))
  const modules = ManifestModules.layer(manifest, { kept })
  return opened(config, { modules, slices, scripts, gate, place: Config.FILE, webhooks, verifier: jwt })
}

const opened = (
  config: Config.Config,
  { gate, modules, verifier, ...parts }: Pick<Settings, "modules" | "place" | "scripts" | "slices" | "webhooks"> & {
    readonly gate: Gate.Gate
    readonly verifier: Verify | undefined
  }
): Settings => {
  if (config.backup !== undefined) {
    throw new Config.InvalidConfig({ reason: "backup needs a folder, and a Worker has none. Run systole backup against it, with --server" })
  }
  const report = (failure: unknown): void => reporter.report(UnexpectedFailure.of(failure))
  const jwts = verifier === undefined ? undefined : Jwts.bearer(config.access.jwt, { report, verifier })
  return { ...gate, modules, load: loading(config, modules), config, hash, reporter, jwts, ...parts }
}

/** The function that makes the verifier of JSON Web Tokens. */
type Verify = Parameters<typeof Jwts.bearer>[1]["verifier"]

const loading = (config: Config.Config, modules: Layer.Layer<ModuleHost>): Settings["load"] => {
  const { enzymes, kernel, plugins } = config
  const { moduleMillis: millis } = HostLimits.bound(kernel.limits, HostLimits.hosts.object)
  let loaded: Loader.LoadedModules | undefined
  // A value and no promise, which would belong to the object that made it.
  const keep = (found: Loader.LoadedModules): void => {
    if (found.broken.length === 0) loaded = found
  }
  const load = Loader.load({ enzymes, plugins, required: Loader.requiredBy(config), millis }).pipe(
    Effect.provide(modules),
    Effect.tap((found) => Effect.sync(() => keep(found)))
  )
  return Effect.suspend(() => loaded === undefined ? load : Effect.succeed(loaded))
}

/** Prints each failure on one line. */
const reporter = new Reporter((told) => console.error(line(told)))
