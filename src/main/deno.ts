/**
 * The runtime on Deno.
 *
 * @module
 */
import type { Fetch } from "../cli/Host.ts"
import type * as Main from "./Main.ts"
import { ofDeno as turn } from "./host/HostTurn.ts"
import * as IdleCollector from "./host/IdleCollector.ts"

/** The used part of Deno's API. */
declare const Deno: {
  readonly serve: (
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: (request: Request, info?: { readonly remoteAddr?: { readonly hostname?: string } }) => ReturnType<Fetch>
  ) => { readonly addr: { readonly port: number }; readonly shutdown: () => Promise<void> }
  readonly permissions: {
    readonly querySync: (permission: { readonly name: "ffi" }) => { readonly state: "granted" | "prompt" | "denied" }
  }
  readonly dlopen: (
    library: string,
    symbols: { readonly malloc_trim: { readonly parameters: readonly ["usize"]; readonly result: "i32" } }
  ) => { readonly symbols: { readonly malloc_trim: (kept: bigint) => number }; readonly close: () => void }
}

/** The beginning of a notice that Deno prints once. */
const NOTICE = "Deno.serve: request.signal aborts on successful responses"

/**
 * Leaves out Deno's notice for those who read the signal of a request. Lists end with their client by that signal; it is aborted
 * after the answer, too, when nothing looks at it any more. Only a flag of the command line would turn the notice off.
 */
const leaveOutNotice = (): void => {
  const { warn } = console
  console.warn = (...told: ReadonlyArray<unknown>) => {
    if (String(told[0]).startsWith(NOTICE)) console.warn = warn
    else warn(...told)
  }
}

leaveOutNotice()

/**
 * Returns the free memory of glibc's arenas to the system, which is tens of MiB after a load.
 *
 * It never prompts for the permission, and does nothing without glibc.
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
    await IdleCollector.collectV8()
  } finally {
    trim()
  }
}

/**
 * The platform of Deno: its HTTP server and its event loop.
 */
export const platform: Main.Platform = {
  turn,
  serving: () => IdleCollector.collectWhenIdle({ turn, later: IdleCollector.later, collect }),
  serve: async (fetch, { host, port }) => {
    const options = { hostname: host, port, onListen: () => undefined }
    const server = Deno.serve(options, (request, info) => fetch(request, () => info?.remoteAddr?.hostname))
    return {
      port: server.addr.port,
      close: () => server.shutdown(),
      // Deno cannot abort a server during its shutdown. The open connections end with the process.
      drop: () => undefined
    }
  }
}
