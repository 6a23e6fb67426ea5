/**
 * The list of the declared flows, step by step.
 *
 * @module
 */
import * as Flow from "../flow/Flow.ts"
import type { Lists } from "./Lists.ts"

/** The list, by its path. */
export const lists: Lists = {
  "/v1/flows": { field: "flows", rows: (enzymes) => enzymes.flatMap(({ enzyme }) => Flow.describe(enzyme) ?? []) }
}
