/**
 * SHA-256 in pure TypeScript, for hosts without a synchronous implementation.
 *
 * @module
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Layer from "effect/Layer"
import { Hash } from "../persistence/Hash.ts"

/**
 * The hash of hosts without `node:crypto`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Hash> = Layer.succeed(Hash, {
  hex: (data) => bytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data)),
  start: () => {
    const hash = sha256.create()
    return { update: (bytes) => void hash.update(bytes), hex: () => bytesToHex(hash.digest()) }
  }
})
