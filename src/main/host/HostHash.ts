/**
 * SHA-256 through `node:crypto`.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import * as Crypto from "node:crypto"
import { Hash } from "../../persistence/Hash.ts"

/**
 * The hash of hosts that have `node:crypto`: Node, Deno and Bun.
 */
export const layer: Layer.Layer<Hash> = Layer.succeed(Hash, {
  hex: (data) => Crypto.hash("sha256", data),
  start: () => {
    const hash = Crypto.createHash("sha256")
    return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") }
  }
})
