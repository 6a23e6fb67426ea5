/**
 * The history of a space: verification, replays, why and explain.
 *
 * @module
 */
import * as Routes from "../../ingress/route/History.ts"
import type { Slice } from "../../ingress/route/Slice.ts"

/**
 * The slice `history`.
 */
export const slice: Slice = { name: "history", routes: Routes.routes }
