/**
 * A built project: the form of the module that a build generates.
 *
 * @module
 */
import type * as JwtVerifier from "../../access/JwtVerifier.ts"
import type { PluginCommand } from "../../cli/PluginCommand.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import type * as Webhooks from "../../ingress/Webhooks.ts"
import type * as Config from "../../loader/Config.ts"
import type * as ManifestModules from "../module/ManifestModules.ts"

/**
 * A built project.
 */
export interface BuiltProject {
  /** The version of the runtime. */
  readonly version: string
  /** The environment of the configuration. */
  readonly environment: string | undefined
  /** The configuration without its tokens. */
  readonly settings: Omit<Config.Settings, "token" | "check" | "create"> & Partial<Pick<Config.Settings, "check" | "create">>
  /** Whether the project has a token. */
  readonly hasToken: boolean
  /** Its slices, in the order of `Slices.ts`. */
  readonly slices: ReadonlyArray<Slice>
  /** The commands of its plugins, on a platform with files. */
  readonly commands?: ReadonlyArray<PluginCommand>
  /** Makes the answers of webhooks, on a platform that stores spaces itself, if the project has a webhook. */
  readonly webhooks?: typeof Webhooks.make
  /** Makes the verifier of JSON Web Tokens, on a platform that stores spaces itself, if the project accepts them. */
  readonly jwt?: typeof JwtVerifier.make
  /** The paths of the scripts of pages among the assets of a Worker, by the files of their modules. */
  readonly scripts?: Readonly<Record<string, string>>
  readonly manifest: ManifestModules.Manifest
  /** The default exports of earlier modules, by hash. */
  readonly kept: Readonly<Record<string, unknown>>
}
