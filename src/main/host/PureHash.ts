/**
 * The hash in pure TypeScript as a service, for hosts without a synchronous implementation.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { Hash } from "../../persistence/Hash.ts"
import { hash } from "../../persistence/PureSha256.ts"

/**
 * The hash of hosts without `node:crypto`.
 */
export const layer: Layer.Layer<Hash> = Layer.succeed(Hash, hash)
