/**
 * The list of the declared flows, step by step.
 *
 * @module
 */
import { flows } from "../../contract/Spaces.ts"
import * as Flow from "../../flow/Flow.ts"
import type { RuntimeList } from "./RuntimeLists.ts"

/** The list. */
export const lists: ReadonlyArray<RuntimeList> = [
  { endpoint: flows, field: "flows", has: (enzyme) => Flow.planOf(enzyme) !== undefined, row: ({ enzyme }) => Flow.describe(enzyme) ?? {} }
]
