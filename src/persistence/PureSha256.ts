/**
 * SHA-256 in pure TypeScript, without the services of Effect, which the Worker in front does without.
 *
 * @module
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { Hash } from "./Hash.ts"

/**
 * The hash of hosts without `node:crypto`.
 */
export const hash: Hash["Service"] = {
  hex: (data) => bytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data)),
  start: () => {
    const hash = sha256.create()
    return { update: (bytes) => void hash.update(bytes), hex: () => bytesToHex(hash.digest()) }
  }
}
