/**
 * The runtime on Node.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { serve } from "@hono/node-server"
import type { Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate } from "node:timers"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { CliFailure, exits } from "../cli/CliFailure.ts"
import * as HostHash from "./HostHash.ts"
import type * as Main from "./Main.ts"
import * as Permission from "./Permission.ts"
import * as Project from "./Project.ts"
import * as Rest from "./Rest.ts"

// What V8 sees survive its first small collections, it makes old from the start from then on. Under load these are the
// objects of all requests that wait for one flush: each would be old when it dies, and keep young ones alive.
setFlagsFromString("--no-allocation-site-pretenuring")

type Collect = (options: Readonly<Record<string, string>>) => void

/** V8's own function for it, which only contexts have that are made while the flag is on. */
const makeGc = (): Collect => {
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc") as Collect
  setFlagsFromString("--no-expose-gc")
  return gc
}

let gc: Collect | undefined

/** It gives back as much as what an inspector asks for, and leaves the next load faster to begin with: measured, an event of its first half second takes two thirds. */
const collect = async (): Promise<void> => (gc ??= makeGc())({ type: "major", execution: "sync", flavor: "last-resort" })

/**
 * What Node gives: its HTTP server, and the turn of its loop.
 *
 * @category constructors
 * @since 0.1.0
 */
export const platform: Main.Platform = {
  turn: Rest.resting({ turn: (run) => void setImmediate(run), later: Rest.later, collect }),
  serve: (fetch, { host, port }) =>
    new Promise((resolve, reject) => {
      const server = serve({ fetch, hostname: host, port }, (info: AddressInfo) => resolve(opened(server, info.port))) as HttpServer
      server.once("error", reject)
    }),
  confine: (root, config) => {
    if (Permission.isActive()) return Effect.void
    if (process.execve === undefined) {
      return Effect.fail(new CliFailure({ exit: exits.usage, code: "host/unconfined", message: `--permission needs Node 23.11 or newer, and this is ${process.version}` }))
    }
    return Effect.provide(Permission.enter(root, config, Project.sourcesOf(config)), HostHash.layer).pipe(
      Effect.mapError(({ message }) => new CliFailure({ exit: exits.failed, code: "host/unconfined", message }))
    )
  }
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
