/**
 * The runtime on Bun.
 *
 * @module
 */
import { setImmediate } from "node:timers"
import type { Fetch } from "../cli/Host.ts"
import type * as Main from "./Main.ts"
import * as Rest from "./Rest.ts"

/** As much of Bun as is used here. */
declare const Bun: {
  readonly gc: (synchronous: boolean) => number
  readonly serve: (options: {
    readonly fetch: Fetch
    readonly hostname: string
    readonly port: number
    readonly idleTimeout: number
    readonly maxRequestBodySize: number
  }) => { readonly port: number | undefined; readonly stop: (now?: boolean) => Promise<void> }
}

/**
 * What Bun gives: its own server, and the turn of its loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const platform: Main.Platform = {
  turn: Rest.resting({ turn: (run) => void setImmediate(run), later: Rest.later, collect: async () => void Bun.gc(true) }),
  serve: async (fetch, { host, port }) => {
    // Longer than any answer may take; the bodies are measured by the ingress.
    const server = Bun.serve({ fetch, hostname: host, port, idleTimeout: 120, maxRequestBodySize: Number.MAX_SAFE_INTEGER })
    return {
      port: server.port ?? port,
      close: () => server.stop(),
      drop: () => void server.stop(true)
    }
  }
}
