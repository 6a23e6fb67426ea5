/**
 * The list of the declared flows, step by step.
 *
 * @module
 */
import { flows } from "../contract/Spaces.ts"
import * as Flow from "../flow/Flow.ts"
import type { List } from "./Lists.ts"

/** The list. */
export const lists: ReadonlyArray<List> = [
  { endpoint: flows, field: "flows", rows: (enzymes) => enzymes.flatMap(({ enzyme }) => Flow.describe(enzyme) ?? []) }
]
