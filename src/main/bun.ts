/**
 * The runtime on Bun.
 *
 * @module
 */
import { setImmediate } from "node:timers"
import type * as Main from "./Main.ts"

/**
 * What Bun gives: its own server, and the turn of its loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const platform: Main.Platform = {
  turn: (run) => void setImmediate(run),
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
