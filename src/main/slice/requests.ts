/**
 * Requests to the world: `tx.io`, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/route/Io.ts"
import { ofLedger } from "../../ingress/route/Slice.ts"
import * as SpaceIo from "./SpaceIo.ts"
import { requests } from "../../reactor/Ledger.ts"
import { outside } from "../../reactor/Outside.ts"

/**
 * The slice `requests`.
 */
export const slice = ofLedger("requests", { ledger: requests, outside, part: SpaceIo.part, routes: Routes.routes })
