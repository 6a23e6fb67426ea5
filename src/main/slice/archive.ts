/**
 * Export and import of spaces.
 *
 * @module
 */
import * as Routes from "../../ingress/route/Archive.ts"
import type { Slice } from "../../ingress/route/Slice.ts"

/**
 * The slice `archive`.
 */
export const slice: Slice = { name: "archive", routes: Routes.routes }
