/**
 * The history of a space: verification, replays, why and explain.
 *
 * @module
 */
import * as Routes from "../../ingress/History.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `history`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "history",
  routes: Routes.routes
}
