/**
 * The settings of a Worker: its configuration under the bindings of its environment, decoded once per isolate.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { line, Reporter } from "../../diagnostic/Reporter.ts"
import * as Access from "../../ingress/Access.ts"
import * as Config from "../../loader/Config.ts"
import { Hash } from "../../persistence/Hash.ts"
import type { Manifest } from "../ManifestModules.ts"
import * as PureHash from "../PureHash.ts"
import type { Env } from "./Platform.ts"

/** The modules and the configuration of a Worker, as its entry gives them. */
export interface Parts {
  readonly manifest: Manifest
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
  readonly manifest: Manifest
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
  if (token === undefined && isPublic !== true) {
    throw new Config.InvalidConfig({
      reason: "a Worker can be reached by everybody, and there is no token. Set the secret SYSTOLE_TOKEN, or say public: true"
    })
  }
  const rules = { token, readers: config.readers, loopback: false }
  return {
    manifest,
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
