/**
 * An HTTP server that is not Systole, for tests of the command line.
 *
 * @module
 */
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

/** The address of a server with these answers, until the scope closes. */
export const served = (answer: RequestListener) => Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
)
