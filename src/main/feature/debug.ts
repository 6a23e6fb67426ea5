/**
 * The debugger of a space: breakpoints and single beats.
 *
 * @module
 */
import * as Routes from "../../ingress/Debug.ts"
import { LiveDebug } from "../../kernel/space/SpaceDebug.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `debug`. Its routes exist in development only.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "debug",
  parts: ({ group, ledgers: { durably }, state: { derivation } }) => ({ debug: new LiveDebug({ derivation, durably, group }) }),
  routes: Routes.routes
}
