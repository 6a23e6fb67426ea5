/**
 * A process over many durable runs that wait in one space in SQLite: starts them, or opens the space with them, and prints
 * the memory of each as JSON.
 *
 * `ManyRuns.ts FOLDER make|open COUNT`. Each run waits for a signal, for at most an hour.
 *
 * @module
 */
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { defaults, Enzyme, Kernel, type Space } from "systole"
import { unsynced } from "../../plugins/sqlite.ts"
import * as BenchKernel from "./BenchKernel.ts"

/** The output of a process. */
export interface Report {
  /** The bytes of memory for each waiting run, without the bounded caches. */
  readonly bytes: number
  /** The runs that got their signal afterwards, and ended. */
  readonly ended: number
  /** Milliseconds until the space is open. */
  readonly opened: number
}

/** The signals that are sent together, and the runs that get their signal. */
const TOGETHER = 500
const RETURNING = 1000

const HOUR = 3_600_000

const [folder = "", phase, size = "0"] = process.argv.slice(2)
const count = Number(size)

/** The caches of documents and of bodies have limits of their own, and are small here. */
const limits = { ...defaults, residentBytes: 1_048_576, residentRuns: 64 }

const waiter = Enzyme.make({
  name: "waiter",
  query: "/signals/wait/:n",
  durable: true,
  hears: ({ params: { n } }) => [{ signal: "/signals/go", target: `/data/runs/${n}` }],
  run: async (tx, { params: { n } }) => {
    const late = tx.sleep(HOUR)
    await Promise.race([tx.waitForSignal("/signals/go", `/data/runs/${n}`), late])
    return tx.increment("/data/ended")
  }
})

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** The bytes in use after a collection. */
const used = (): number => {
  collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Sends a signal for each number, and waits until the space is idle. */
const send = Effect.fnUntraced(function*(space: Space, numbers: ReadonlyArray<number>, of: (n: number) => Parameters<Space["signal"]>[0]) {
  for (let i = 0; i < numbers.length; i += TOGETHER) {
    yield* Effect.forEach(numbers.slice(i, i + TOGETHER), (n) => space.signal(of(n)), { concurrency: "unbounded", discard: true })
    yield* space.idle
  }
})

const numbers = (from: number, to: number): ReadonlyArray<number> => Array.from({ length: to - from }, (_, i) => from + i)

const life = Effect.gen(function*() {
  const kernel = yield* Kernel
  yield* kernel.register(waiter)
  const wait = (n: number) => ({ signal: `/signals/wait/${n}` })
  const small = yield* kernel.space("small")
  // The same code runs in a space with few runs first, so that its compilation counts in neither figure.
  yield* send(small, numbers(0, 2 * TOGETHER), wait)
  const before = used()
  const began = performance.now()
  const space = yield* kernel.space("many")
  const opened = performance.now() - began
  if (phase === "make") yield* send(space, numbers(0, count), wait)
  const bytes = (used() - before) / count
  const returning = Math.min(RETURNING, count)
  const ended = phase === "make" ? 0 : yield* Effect.gen(function*() {
    yield* send(space, numbers(0, returning), (n) => ({ signal: "/signals/go", target: `/data/runs/${n * Math.floor(count / returning)}` }))
    return (yield* space.get("/data/ended")) as number
  })
  console.log(JSON.stringify({ bytes, ended, opened } satisfies Report))
})

const layer = BenchKernel.layer(unsynced(0)({ folder, options: {} }), { settings: { limits } })

await Effect.runPromise(Effect.scoped(Effect.provide(life, layer)))
process.exit(0)
