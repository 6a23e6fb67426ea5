/**
 * The runtime on Deno.
 *
 * @module
 */
import { setImmediate } from "node:timers"
import type { Fetch } from "../cli/Host.ts"
import type { Turn } from "../kernel/Pacemaker.ts"
import type * as Main from "./Main.ts"
import * as Rest from "./Rest.ts"

/** As much of Deno as is used here. */
declare const Deno: {
  readonly serve: (
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: Fetch
  ) => { readonly addr: { readonly port: number }; readonly shutdown: () => Promise<void> }
}

const nothing = new Uint8Array(0)

/** Between immediates Deno's loop does not look at its sockets, but where it waits for another thread it does. A digest is the least that another thread does. */
const turn: Turn = (run, again) => again === true ? void crypto.subtle.digest("SHA-256", nothing).then(run) : void setImmediate(run)

/**
 * What Deno gives: its own server, and the turn of its loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const platform: Main.Platform = {
  turn: Rest.resting({ turn, later: Rest.later, collect: Rest.collectV8 }),
  serve: async (fetch, { host, port }) => {
    const server = Deno.serve({ hostname: host, port, onListen: () => undefined }, (request) => fetch(request))
    return {
      port: server.addr.port,
      close: () => server.shutdown(),
      // A server that is shutting down cannot be aborted as well: what it still holds ends with the process.
      drop: () => undefined
    }
  }
}
