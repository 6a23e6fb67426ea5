/**
 * The key of this node: read from the variable or the file that the configuration names.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../cell/Redacted.ts"
import * as Signature from "../frame/Signature.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import type { SecretPlace } from "./PluginOptions.ts"

/** Reads the text at a place; "" for a variable that is not set. It throws what a host throws for a file that it cannot read. */
export type ReadSecret = (place: SecretPlace) => string

/**
 * The key that signs, or `undefined` where the configuration names none.
 */
export const signer = (place: SecretPlace | undefined, read: ReadSecret): Effect.Effect<Signature.Signer | undefined, InvalidConfig> => {
  if (place === undefined) return Effect.succeed(undefined)
  const name = "env" in place ? `the variable ${place.env}` : `the file ${place.file}`
  const text = Effect.try({
    try: () => Redacted.make(read(place)),
    catch: (error) => `cannot be read (${(error as { readonly code?: string }).code ?? "no files on this host"})`
  })
  return text.pipe(
    Effect.flatMap((secret) => Effect.mapError(Signature.signer(secret, name), () => "has no secret key")),
    Effect.mapError((problem) => new InvalidConfig({ reason: `key names ${name}, which ${problem}. Make one with systole key new` }))
  )
}
