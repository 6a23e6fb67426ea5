/**
 * The runtime on Deno.
 *
 * @module
 */
import { setImmediate } from "node:timers"
import type { Fetch } from "../cli/Host.ts"
import type { Turn } from "../kernel/model/Pacemaker.ts"
import type * as Main from "./Main.ts"
import * as Rest from "./Rest.ts"

/** As much of Deno as is used here. */
declare const Deno: {
  readonly serve: (
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: Fetch
  ) => { readonly addr: { readonly port: number }; readonly shutdown: () => Promise<void> }
  readonly permissions: { readonly querySync: (permission: { readonly name: "ffi" }) => { readonly state: "granted" | "prompt" | "denied" } }
  readonly dlopen: (
    library: string,
    symbols: { readonly malloc_trim: { readonly parameters: readonly ["usize"]; readonly result: "i32" } }
  ) => { readonly symbols: { readonly malloc_trim: (kept: bigint) => number }; readonly close: () => void }
}

const nothing = new Uint8Array(0)

/** Between immediates Deno's loop does not look at its sockets, but where it waits for another thread it does. A digest is the least that another thread does. */
const turn: Turn = (run, again) => again === true ? void crypto.subtle.digest("SHA-256", nothing).then(run, run) : void setImmediate(run)

/**
 * Has glibc give back what native code freed: its arenas keep that for each thread, tens of MiB after a load. Nobody is
 * asked for the permission, and where there is no glibc, nothing is to be done.
 */
const trim = (): void => {
  if (Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return
  let glibc: ReturnType<typeof Deno.dlopen>
  try {
    glibc = Deno.dlopen("libc.so.6", { malloc_trim: { parameters: ["usize"], result: "i32" } })
  } catch {
    return
  }
  glibc.symbols.malloc_trim(0n)
  glibc.close()
}

const collect = async (): Promise<void> => {
  try {
    await Rest.collectV8()
  } finally {
    trim()
  }
}

/**
 * What Deno gives: its own server, and the turn of its loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const platform: Main.Platform = {
  turn: Rest.resting({ turn, later: Rest.later, collect }),
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
