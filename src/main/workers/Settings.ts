/**
 * The settings of a Worker: its configuration under the bindings of its environment, decoded once per isolate.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { line, Reporter } from "../../diagnostic/Reporter.ts"
import * as Access from "../../ingress/Access.ts"
import type { Feature } from "../../ingress/Feature.ts"
import * as Config from "../../loader/Config.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { ModuleHost } from "../../loader/ModuleHost.ts"
import * as Secrets from "../../loader/Secrets.ts"
import { Hash } from "../../persistence/Hash.ts"
import type { Built } from "../Built.ts"
import * as Features from "../feature/Features.ts"
import * as ManifestModules from "../ManifestModules.ts"
import * as PureHash from "../PureHash.ts"
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
export interface Settings {
  readonly modules: Layer.Layer<ModuleHost>
  readonly features: ReadonlyArray<Feature>
  readonly config: Config.Config
  readonly hash: Hash["Service"]
  readonly reporter: Reporter
  readonly access: (request: Request) => Access.Access
  /** The proof with which the objects of this application call each other. It follows from the token. */
  readonly proof: string
}

/**
 * Decodes the settings of a Worker.
 *
 * @throws InvalidConfig
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ config: given, manifest, public: isPublic }: Parts, env: Env): Settings => {
  const definition = typeof given === "function" ? given(env) : given ?? {}
  const token = env.SYSTOLE_TOKEN ?? definition.token
  const config = Effect.runSync(Config.decode(token === undefined ? definition : { ...definition, token }))
  return opened(config, { modules: ManifestModules.layer(manifest), features: Features.all, isPublic: isPublic === true })
}

/**
 * The settings of a build, whose configuration was decoded when it was made. The tokens are secrets of the Worker. The variable
 * `SYSTOLE_PUBLIC` with the text `true` allows unauthenticated access.
 *
 * @throws InvalidConfig
 * @category constructors
 * @since 0.1.0
 */
export const ofBuild = ({ features, kept, manifest, settings: { check, create, ...settings } }: Built, env: Env): Settings => {
  const given = { ...settings, check, create, host: "127.0.0.1", token: undefined }
  const config = Result.getOrThrowWith(Secrets.withTokens(given, env as unknown as Secrets.Variables), (refusal) => refusal)
  return opened(config, { modules: ManifestModules.layer(manifest, { kept }), features, isPublic: env.SYSTOLE_PUBLIC === "true" })
}

const opened = (
  config: Config.Config,
  { features, isPublic, modules }: Pick<Settings, "features" | "modules"> & { readonly isPublic: boolean }
): Settings => {
  const { token } = config
  if (token === undefined && !isPublic) {
    throw new InvalidConfig({
      reason: "a Worker can be reached by everybody, and there is no token. Set the secret SYSTOLE_TOKEN, or say public: true"
    })
  }
  const rules = { token, readers: config.readers, loopback: false }
  return {
    modules,
    features,
    config,
    hash,
    reporter,
    access: Access.make(rules, hash),
    proof: hash.hex(JSON.stringify(["systole/object", token ?? null]))
  }
}

const hash = Context.get(Effect.runSync(Effect.scoped(Layer.build(PureHash.layer))), Hash)

/** Prints each failure on one line. */
const reporter = new Reporter((told) => console.error(line(told)))
