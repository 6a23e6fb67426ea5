/**
 * Servers of a test on loopback addresses.
 *
 * @module
 */
import { Effect } from "effect"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** The address of a server, until the scope closes. */
export const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(() => new Promise<string>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    })),
    () => Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
