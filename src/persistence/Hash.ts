/**
 * The hash of the runtime: SHA-256, synchronous, in hexadecimal.
 *
 * `Hash` is a port, because the fast implementation differs by host. `main/` provides `node:crypto` where it exists, and
 * an implementation in TypeScript elsewhere.
 *
 * @module
 */
import * as Context from "effect/Context"

/** An incremental hash. */
export interface Hasher {
  /** Adds a chunk. */
  readonly update: (bytes: Uint8Array) => void
  /** Returns the digest of all chunks. Call it once, after the last chunk. */
  readonly hex: () => string
}

/**
 * The service that computes SHA-256 digests.
 *
 * @category services
 * @since 0.1.0
 */
export class Hash extends Context.Service<Hash, {
  /** Returns the digest of a text's UTF-8 bytes, or of bytes: 64 lower-case hexadecimal characters. */
  readonly hex: (data: string | Uint8Array) => string
  readonly start: () => Hasher
}>()("systole/persistence/Hash") {}
