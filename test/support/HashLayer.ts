/**
 * SHA-256 by `node:crypto`, for tests.
 *
 * @module
 */
import { createHash, hash } from "node:crypto"
import { Layer } from "effect"
import { Hash } from "systole"

/** The hash for tests on every host. */
export const layer = Layer.succeed(Hash, {
  hex: (data) => hash("sha256", data),
  start: () => {
    const made = createHash("sha256")
    return { update: (bytes) => void made.update(bytes), hex: () => made.digest("hex") }
  }
})
