/**
 * The key of this node: read from the variable or the file that the configuration names.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import * as Signature from "../../frame/Signature.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { SecretPlace } from "../../loader/PluginOptions.ts"

/** The most bytes of a file with a key. */
const MAX_BYTES = 1024

const textOf = (root: string, place: SecretPlace): string => {
  if ("env" in place) return process.env[place.env] ?? ""
  const bytes = readFileSync(resolve(root, place.file))
  return bytes.length > MAX_BYTES ? "" : bytes.toString("utf8")
}

/**
 * The key that signs, or `undefined` where the configuration names none.
 */
export const signer = (root: string, place: SecretPlace | undefined): Effect.Effect<Signature.Signer | undefined, InvalidConfig> => {
  if (place === undefined) return Effect.succeed(undefined)
  const name = "env" in place ? `the variable ${place.env}` : `the file ${place.file}`
  const read = Effect.try({
    try: () => Redacted.make(textOf(root, place)),
    catch: (error) => (error as NodeJS.ErrnoException).code ?? "error"
  })
  return read.pipe(
    Effect.mapError((code) => `key names ${name}, which cannot be read (${code}). Make a key with systole key new`),
    Effect.flatMap((text) =>
      Effect.mapError(Signature.signer(text, name), () => `key names ${name}, which has no secret key. Make one with systole key new`)),
    Effect.mapError((reason) => new InvalidConfig({ reason }))
  )
}
