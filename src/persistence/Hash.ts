/**
 * The hash of the runtime: SHA-256, synchronous, in hexadecimal.
 *
 * A port, because the fast implementation differs by host: `main/` provides
 * `node:crypto` where it exists and a pure one elsewhere. (Architecture,
 * section 9.)
 *
 * @module
 */
import * as Context from "effect/Context"

/** A hash that is fed piece by piece. */
export interface Hasher {
  readonly update: (bytes: Uint8Array) => void
  /** The digest of all that was fed; to be asked once, last. */
  readonly hex: () => string
}

/**
 * Makes SHA-256 digests.
 *
 * @category services
 * @since 0.1.0
 */
export class Hash extends Context.Service<Hash, {
  /** The digest of a text's UTF-8 bytes, or of bytes: 64 hexadecimal characters. */
  readonly hex: (data: string | Uint8Array) => string
  readonly start: () => Hasher
}>()("systole/persistence/Hash") {}
