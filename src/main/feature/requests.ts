/**
 * Requests to the world: `tx.io`, the channels, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/Io.ts"
import * as SpaceIo from "../../kernel/space/SpaceIo.ts"
import * as Loader from "../../loader/Loader.ts"
import { requests } from "../../reactor/Ledger.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `requests`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "requests",
  ledger: requests,
  channels: Loader.channels,
  parts: ({ ledgers }) => ({ io: SpaceIo.make(ledgers) }),
  routes: Routes.routes
}
