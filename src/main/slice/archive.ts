/**
 * Export and import of spaces.
 *
 * @module
 */
import * as Export from "../../archive/Export.ts"
import * as Routes from "../../ingress/route/Archive.ts"
import type { Slice } from "../../ingress/route/Slice.ts"

/**
 * The slice `archive`.
 */
export const slice: Slice = {
  name: "archive",
  routes: Routes.routes,
  frame: (pin, hash, parts) => Export.frame(pin, { hash }, parts)
}
