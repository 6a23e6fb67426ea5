/**
 * Payloads with a schema: the decoding of the payloads of enzymes that declare one.
 *
 * @module
 */
import type { Feature } from "../Feature.ts"
import { decode } from "../../registry/PayloadSchema.ts"

/**
 * The feature `schema`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = { name: "schema", decode }
