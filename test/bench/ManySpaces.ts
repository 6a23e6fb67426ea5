/**
 * A process over many spaces in SQLite: creates them, or starts over them like a
 * server, and prints the measured times as JSON.
 *
 * @module
 */
import { readdirSync } from "node:fs"
import process from "node:process"
import { Context, Effect, Layer } from "effect"
import { Enzyme, Kernel } from "systole"
import { unsynced } from "../../plugins/sqlite.ts"
import * as BenchKernel from "./BenchKernel.ts"

/** The output of a process. */
export interface Report {
  /** Milliseconds from the start of the process to the first answer. */
  readonly first: number
  /** Milliseconds for one request of each space. */
  readonly all: number
  /** The maximum memory in bytes, and the maximum number of descriptors. */
  readonly memory: number
  readonly descriptors: number
  /** The number of spaces that a timer woke. */
  readonly woken: number
}

/** One of this many spaces has pending work at the start. */
const DUE = 100

const [folder = "", phase = "", count = "", open = ""] = process.argv.slice(2)
const names = Array.from({ length: Number(count) }, (_, i) => `space-${String(i).padStart(5, "0")}`)

const add = Enzyme.make({ name: "add", query: "/signals/add", run: (tx, { payload }) => tx.increment("/data/sum", Number(payload)) })
const later = Enzyme.make({
  name: "later",
  query: "/signals/later",
  run: (tx) => tx.signal({ signal: "/signals/add", payload: 1, at: { ms: 1 } })
})

const descriptors = (): number => {
  try {
    return readdirSync("/proc/self/fd").length
  } catch {
    return Number.NaN
  }
}

const most = { memory: 0, descriptors: 0 }
const measure = (): void => {
  most.memory = Math.max(most.memory, process.memoryUsage.rss())
  most.descriptors = Math.max(most.descriptors, descriptors())
}

const program = Effect.gen(function*() {
  const layer = BenchKernel.layer(unsynced(0)({ folder, options: {} }), { settings: { open: Number(open), boot: true } })
  const kernel = Context.get(yield* Layer.buildWithScope(layer, yield* Effect.scope), Kernel)
  for (const enzyme of [add, later]) yield* kernel.register(enzyme)
  const ask = (name: string, signal: string) => Effect.flatMap(kernel.space(name), (space) => space.handled({ signal, payload: 1 }))
  if (phase === "make") {
    for (const [i, name] of names.entries()) yield* ask(name, `/signals/${i % DUE === 0 ? "later" : "add"}`)
    return
  }
  yield* Effect.forkChild(kernel.resume)
  yield* Effect.yieldNow
  yield* ask(names[names.length >> 1]!, "/signals/add")
  const first = performance.now()
  measure()
  let woken = 0
  for (const [i, name] of names.entries()) {
    yield* ask(name, "/signals/add")
    if (i % 100 === 0) measure()
    const sum = yield* Effect.flatMap(kernel.space(name), (space) => space.get("/data/sum"))
    if (i % DUE === 0 && Number(sum) > 1) woken++
  }
  const all = performance.now() - first
  measure()
  console.log(JSON.stringify({ first, all, ...most, woken } satisfies Report))
})

await Effect.runPromise(Effect.scoped(program))
