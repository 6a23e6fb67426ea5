/**
 * Requests to the world: `tx.io`, the channels, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/Io.ts"
import { LiveIo } from "../../kernel/space/SpaceIo.ts"
import { requests } from "../../reactor/Ledger.ts"
import type { Feature } from "../../ingress/Feature.ts"

/**
 * The feature `requests`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "requests",
  ledger: requests,
  parts: ({ ledgers }) => ({ io: new LiveIo(ledgers) }),
  routes: Routes.routes
}
