/**
 * The paths of slices that a build may leave out. A build without a slice knows them, too, and has none of its endpoints.
 *
 * @module
 */
import { SPACE } from "./Paths.ts"

/** The history of a space: its verification, its replay, the writer of a value, and the reasons for runs. */
export const HISTORY = {
  verification: `${SPACE}/journal/verification`,
  replay: `${SPACE}/replay`,
  why: `${SPACE}/why`,
  explain: `${SPACE}/explain`
} as const

/** The export and the import of a space. */
export const ARCHIVE = {
  export: `${SPACE}/export`,
  import: `${SPACE}/import/:id`
} as const

/** The flows that the modules of a runtime declare. */
export const FLOWS = "/v1/flows"
