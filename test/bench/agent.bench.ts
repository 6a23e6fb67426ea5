/**
 * A wake of a resident agent with nothing due, a parse and an update of a control file: with 10 actions and with 1,000.
 */
import { Effect, Layer } from "effect"
import { performance } from "node:perf_hooks"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import * as Edits from "../../plugins/agent/document/Edit.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import { MemoryDisk } from "../agent/MemoryDisk.ts"
import { action, fileOf, PATH } from "../agent/TestAgent.ts"
import * as HashLayer from "../support/HashLayer.ts"
import type { Bench, Case, Round } from "./Bench.ts"

/** The calls of one round. */
const CALLS = 20

const textOf = (count: number): string => {
  const schedule = "at:2100-01-01T00:00:00Z"
  return fileOf(...Array.from({ length: count }, (_, i) =>
    action(`check-${i}`, { type: "http_check", target: `http://example.com/${i}`, schedule, status: "pending" })))
}

/** The milliseconds of one call. */
const millis = async (call: () => unknown): Promise<number> => {
  const start = performance.now()
  for (let i = 0; i < CALLS; i++) await call()
  return (performance.now() - start) / CALLS
}

/** A ledger of cells in memory. */
const ledger = (): SpaceClient["Service"] => {
  const cells = new Map<string, unknown>()
  return {
    queries: Effect.succeed(["/signals/agent/http_check"]),
    get: (cell) => Effect.sync(() => cells.get(cell)),
    all: () => Effect.succeed([]),
    list: () => Effect.succeed([]),
    set: (cell, value) => Effect.sync(() => void cells.set(cell, value)),
    remove: (cell) => Effect.sync(() => void cells.delete(cell)),
    changed: () => Effect.void,
    send: () => Effect.succeed("unhandled")
  }
}

const wake = (count: number): Round => {
  const disk = new MemoryDisk()
  disk.save(PATH, textOf(count))
  const memory = new Wake.Memory()
  const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer, Layer.succeed(SpaceClient, ledger()))
  const services = Layer.provideMerge(FileStore.layer(PATH), host)
  const woken = Wake.run({ memory, settings: Settings.defaults, startup: "1" }).pipe(Effect.provide(services))
  return () => millis(() => Effect.runPromise(woken))
}

const parse = (count: number): Round => {
  const text = textOf(count)
  return () => millis(() => ControlFiles.parse(text))
}

const update = (count: number): Round => {
  const file = ControlFiles.parse(textOf(count))
  return () => millis(() => Edits.update(file, [{ kind: "field", id: `check-${count - 1}`, key: "status", value: "running" }]))
}

const compared = (name: string, round: (count: number) => Round): Case =>
  ({ name, unit: "ms", baseline: "10 actions", contenders: { "10 actions": round(10), "1,000 actions": round(1000) } })

export default {
  cases: [compared("a wake with nothing due", wake), compared("a parse", parse), compared("an update", update)]
} satisfies Bench as Bench
