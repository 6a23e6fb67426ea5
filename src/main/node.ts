/**
 * The runtime on Node.
 *
 * @module
 */
import { serve } from "@hono/node-server"
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type * as Main from "./Main.ts"
import type { Turn } from "../kernel/model/Pacemaker.ts"
import { turn } from "./host/HostTurn.ts"
import * as IdleCollector from "./host/IdleCollector.ts"

/** Sets the flags of the engine for a server. Its turns collect garbage when it is idle. */
const serving = (): Turn => {
  // Disable pretenuring: V8 allocates objects in the old generation if earlier ones of the same site survived a minor
  // collection. Under load, the objects of requests that wait for a flush survive. They would die old and keep young
  // objects alive.
  setFlagsFromString("--no-allocation-site-pretenuring")
  return IdleCollector.collectWhenIdle({ turn, later: IdleCollector.later, collect })
}

/**
 * Has the engine compile baseline code on the main thread: a background thread that finds the heap full there waits for a collection,
 * which a main thread that ends, and waits for its threads, never makes. A command hung so in one of 30 answers of 64 MiB
 * (nodejs/node#54918).
 */
const begin = (): void => setFlagsFromString("--no-concurrent-sparkplug")

type Collect = (options: Readonly<Record<string, string>>) => void

/** V8's function for a collection. Only contexts created while the flag is set contain it. */
const makeGc = (): Collect => {
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc") as Collect
  setFlagsFromString("--no-expose-gc")
  return gc
}

let gc: Collect | undefined

/**
 * Runs a full collection. It returns as much memory as a collection through the inspector.
 *
 * It also discards less code: in the first half second of the next load, an event takes two thirds of the time.
 */
const collect = async (): Promise<void> => (gc ??= makeGc())({ type: "major", execution: "sync", flavor: "last-resort" })

/** The longest pause within the body of a request, in milliseconds. The connection is closed then. */
const PAUSE = 60_000

/**
 * No limit on the time of a whole request: Node's own of five minutes ends the upload of a large content. The limit on the time of
 * its headers stays, and {@link PAUSE} bounds each pause of its body. Probes of the connection find a client that is gone.
 */
const serverOptions = { requestTimeout: 0, headersTimeout: 60_000, keepAlive: true, keepAliveInitialDelay: 60_000 }

/**
 * The platform of Node: its HTTP server and its event loop.
 */
export const platform: Main.Platform = {
  turn,
  begin,
  serving,
  serve: (fetch, { host, port }) =>
    new Promise((resolve, reject) => {
      const server = serve(
        { fetch: (request, env) => fetch(request, () => addressOf(env)), hostname: host, port, serverOptions },
        (info: AddressInfo) => resolve(opened(server, info.port))
      ) as HttpServer
      server.prependListener("request", limitPauses).once("error", reject)
    })
}

/** The address of the connection of a request. */
const addressOf = ({ incoming }: { readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } }) =>
  incoming?.socket.remoteAddress

const limitPauses = (request: IncomingMessage, response: ServerResponse): void => {
  const { headers, socket } = request
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return
  socket.setTimeout(PAUSE)
  response.on("timeout", () => {
    // A body that came and is not read yet is no pause of the client.
    if (request.complete || request.readableLength > 0) socket.setTimeout(PAUSE)
    else socket.destroy()
  })
  // The answer may take longer, such as an event stream.
  request.once("end", () => socket.setTimeout(0))
}

const opened = (server: HttpServer, port: number): Main.Server => ({
  port,
  close: () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections()
    }),
  drop: () => server.closeAllConnections()
})
