/**
 * The runtime on Bun.
 *
 * @module
 */
import type { Fetch } from "../cli/Host.ts"
import type * as Main from "./Main.ts"
import { turn } from "./host/HostTurn.ts"
import * as IdleCollector from "./host/IdleCollector.ts"

/** The connections of Bun's server. */
interface Connections {
  readonly requestIP: (request: Request) => { readonly address: string } | null
}

/** The used part of Bun's API. */
declare const Bun: {
  readonly gc: (synchronous: boolean) => number
  readonly serve: (options: {
    readonly fetch: (request: Request, server: Connections) => ReturnType<Fetch>
    readonly hostname: string
    readonly port: number
    readonly idleTimeout: number
    readonly maxRequestBodySize: number
  }) => { readonly port: number | undefined; readonly stop: (now?: boolean) => Promise<void> }
}

/**
 * The platform of Bun: its HTTP server and its event loop.
 */
export const platform: Main.Platform = {
  turn,
  serving: () => IdleCollector.collectWhenIdle({
    turn,
    later: IdleCollector.later,
    collect: async () => void Bun.gc(true)
  }),
  serve: async (fetch, { host, port }) => {
    // The time-out exceeds every answer, and the ingress limits the size of bodies.
    const server = Bun.serve({
      fetch: (request, server) => fetch(request, () => server.requestIP(request)?.address),
      hostname: host,
      port,
      idleTimeout: 120,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER
    })
    return {
      port: server.port ?? port,
      close: () => server.stop(),
      drop: () => void server.stop(true)
    }
  }
}
