/**
 * Requests to the world: `tx.io`, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/Io.ts"
import type { Slice } from "../../ingress/Slice.ts"
import * as SpaceIo from "../../kernel/space/SpaceIo.ts"
import { face } from "../../reactor/Face.ts"
import { requests } from "../../reactor/Ledger.ts"

/**
 * The slice `requests`.
 *
 * @category slices
 * @since 0.2.0
 */
export const slice: Slice = { name: "requests", face, ledger: requests, part: SpaceIo.part, routes: Routes.routes }
