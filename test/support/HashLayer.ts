/**
 * SHA-256 by `node:crypto`, for tests.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { Layer } from "effect"
import { Hash } from "systole"

/** The hash for tests on every host. */
export const layer = Layer.succeed(Hash, {
  hex: (data) => createHash("sha256").update(data).digest("hex"),
  start: () => {
    const hash = createHash("sha256")
    return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") }
  }
})
