/**
 * The debugger of a space: breakpoints and single beats. Its routes exist in development only.
 *
 * @module
 */
import * as Routes from "../../ingress/route/Debug.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import * as SpaceDebug from "../../kernel/api/SpaceDebug.ts"

/**
 * The slice `debug`.
 */
export const slice: Slice = { name: "debug", part: SpaceDebug.part, routes: Routes.routes }
