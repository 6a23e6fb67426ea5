/**
 * Requests to the world: `tx.io`, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/Io.ts"
import { ofLedger } from "../../ingress/Slice.ts"
import * as SpaceIo from "../../kernel/space/SpaceIo.ts"
import { requests } from "../../reactor/Ledger.ts"
import { outside } from "../../reactor/Outside.ts"

/**
 * The slice `requests`.
 *
 * @category slices
 * @since 0.2.0
 */
export const slice = ofLedger("requests", { ledger: requests, outside, part: SpaceIo.part, routes: Routes.routes })
