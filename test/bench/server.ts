/**
 * The server of the durable benchmarks: `server.ts PORT FOLDER` serves the real
 * ingress over spaces in SQLite, on the host that runs it.
 *
 * It adds the two routes of the baselines: `/stats`, and `/chain`, which is a chain
 * of ten signals, each handled in its own beat. `/chain?durable` is one durable run
 * of ten requests, which the baselines answer with their chain. `SYNC_US=n` replaces the
 * synchronization of the disk by a wait of n microseconds. `/credentials` tells the headers of requests with each
 * kind of credential.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import process from "node:process"
import { Address, Enzyme, Hash, Kernel, Reporter, Slices, type Space } from "systole"
import sqlite, { unsynced } from "../../plugins/sqlite.ts"
import * as App from "../../src/ingress/App.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import type { Platform } from "../../src/main/Main.ts"
import { Reactor } from "../../src/reactor/Reactor.ts"
import * as BenchKernel from "./BenchKernel.ts"
import * as Chain from "./Chain.ts"
import * as Credentials from "./Credentials.ts"

const [port, folder] = process.argv.slice(2)
const syncMicros = process.env["SYNC_US"]
const stats = { events: 0 }
const counts = { beats: 0, flushes: 0 }
const STEPS = 10
const HOSTS = ["node", "deno", "bun"] as const

const count = Enzyme.make({
  name: "count",
  query: "/signals/bench/count",
  bind: ["/data/bench"],
  writes: ["/data/bench/*"],
  run: (tx, event) => {
    stats.events++
    const { n } = event.payload as { readonly n: number }
    const before = tx.get(event.target!) as { readonly n: number } | undefined
    const value = { last: n, n: (before?.n ?? 0) + 1 }
    tx.set(event.target!, value)
    return { out: value.n }
  }
})

const step = Chain.step(() => void stats.events++)

/** Ten steps of one durable run, each a request to a channel that does nothing. */
const durable = Enzyme.make({
  name: "durable",
  query: "/signals/bench/durable",
  bind: ["/data/chain"],
  durable: true,
  run: async (tx, event) => {
    let value = (event.payload as { readonly n: number }).n
    for (let step = 0; step < STEPS; step++) {
      await tx.io.request({ channel: "noop", opcode: "noop" })
      value++
    }
    stats.events++
    return value
  }
})

const noop = { id: "noop", provider: "noop", opcodes: { noop: { repeatable: true } }, hosts: HOSTS, jobs: 10_000, execute: () => ({}) }

const platform = async (): Promise<Platform> =>
  "Bun" in globalThis
    ? (await import("../../src/main/bun.ts")).platform
    : "Deno" in globalThis
    ? (await import("../../src/main/deno.ts")).platform
    : (await import("../../src/main/node.ts")).platform

const { serve, serving, turn } = await platform()
const provider = syncMicros === undefined ? sqlite.provides.persistence! : unsynced(Number(syncMicros))
const layer = BenchKernel.layer(BenchKernel.counted(provider({ folder: folder!, options: {} }), counts), {
  host: Layer.mergeAll(HostHash.layer, HostPacemaker.layer(serving?.() ?? turn)),
  reactor: Reactor.native([noop])
})

/** A durable run of ten steps. The response waits until its receipt is durable. */
const run = async (space: Space, request: Request): Promise<Response> => {
  const { id, payload } = await request.json() as { readonly id: string; readonly payload: { readonly n: number } }
  const target = `/data/chain/${Address.name(`/${id}`)}`
  const receipt = await Effect.runPromise(space.handled({ signal: "/signals/bench/durable", target, payload }))
  return Response.json({ id, value: receipt.handlings[0]?.value }, { status: receipt.status === "handled" ? 200 : 500 })
}

await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  const context = yield* Layer.build(layer)
  const [kernel, hash] = yield* Effect.all([Kernel, Hash]).pipe(Effect.provideContext(context))
  yield* kernel.register(count)
  yield* kernel.register(step)
  yield* kernel.register(durable)
  const space = yield* kernel.space("bench", { create: true })
  const { lines, options } = yield* Effect.promise(() => Credentials.make(hash, `http://127.0.0.1:${port}`))
  const rules = {
    ...options,
    token: undefined,
    loopback: true,
    pages: {},
    reporter: new Reporter((told) => console.error(told)),
    closing: new AbortController().signal
  }
  const app = App.make({ slices: Slices.all, kernel, hash }, rules)
  app.table.operator.get("/stats", () => {
    const { system, user } = process.cpuUsage()
    const rssMiB = Math.round(process.memoryUsage().rss / 1_048_576)
    return Response.json({ ...stats, commits: counts.flushes, cpuMicros: user + system, rssMiB })
  })
  app.table.operator.get("/credentials", () => Response.json(lines))
  app.table.operator.post("/chain", (c) => c.req.query("durable") === undefined ? Chain.answer(space, c.req.raw) : run(space, c.req.raw))
  yield* Effect.promise(() => serve((request) => app.fetch(request), { host: "127.0.0.1", port: Number(port) }))
  return yield* Effect.never
})))
