/**
 * The part of the settings that the Worker in front needs. A build writes it apart, so that the front loads no configuration.
 *
 * @module
 */
import type { Settings } from "./Config.ts"
import type { AccessSettings } from "./AccessSettings.ts"
import type { ReaderToken } from "./Secrets.ts"

/** The part of the settings. Its tokens are secrets of the platform. */
export interface Outside {
  readonly readers: ReadonlyArray<Omit<ReaderToken, "token">>
  /** The paths of the webhooks. */
  readonly hooks: ReadonlyArray<string>
  /** The origins of the pages of other sites. */
  readonly origins: ReadonlyArray<string>
  /** Whether the project accepts JSON Web Tokens. */
  readonly hasJwt: boolean
  /** The reads that need no credential. */
  readonly public: ReadonlyArray<string>
  readonly rates: AccessSettings["rates"] & {}
}

/**
 * The part of settings.
 */
export const of = ({ access, ingress, origins, readers }: Pick<Settings, "access" | "ingress" | "origins" | "readers">): Outside => ({
  readers: readers.map(({ atoms, name }) => ({ name, atoms })),
  hooks: Object.keys(ingress),
  origins,
  hasJwt: access.jwt !== undefined,
  public: access.public ?? [],
  rates: access.rates ?? {}
})
