/**
 * A process that fills a space, or exports it while signals run, and prints its figures:
 * `FrameExport.ts FOLDER fill MIB` and `FrameExport.ts FOLDER export RATE`.
 *
 * @module
 */
import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import process from "node:process"
import { backup, DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { Enzyme, Kernel, type Space } from "systole"
import sqlite, { unsynced } from "../../plugins/sqlite.ts"
import * as Export from "../../src/archive/Export.ts"
import { Import } from "../../src/archive/Import.ts"
import { hash } from "../frame/Frames.ts"
import { quantile } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

/**
 * The documents of one beat of the filling, and the bytes of each. The journal holds each once more. One row of the journal is read at
 * once, so rows of a megabyte would show their own time alone.
 */
const DOCUMENTS = 2
const BYTES = 8192

/** The documents that the signals of the load change. */
const CHANGED = 1000

/** The seconds without an export before its figures. */
const QUIET = 5

/** The most seconds of the export beside signals, so that the bench ends on a slow machine, too. Its speed is that of the bytes so far. */
const MOST = 90

/** The bytes that an import takes at once. */
const SLICE = 1_048_576

/** The figures of one process. */
export interface Report {
  /** The bytes of the frame. */
  readonly bytes: number
  /** Bytes per second: with signals, without, and those of SQLite's own backup of its file. */
  readonly meanwhile: number
  readonly alone: number
  readonly sqlite: number
  /** Bytes of the frame per second, into a store that waits for the disk. */
  readonly restore: number
  /** The 99 % quantile of the time from a signal to its durable receipt, in milliseconds, without the export and with it. */
  readonly quiet: number
  readonly during: number
  /** The signals in a second that were handled during the export. */
  readonly rate: number
  /**
   * The longest time that the export takes in one turn of the host, in milliseconds, and the 99.9 % quantile of these times. The clock
   * of the processor is too coarse on some machines, so other processes count, and the collection of garbage, too.
   */
  readonly step: number
  readonly usual: number
  /** The memory of the process during the export beyond that before it, in bytes. */
  readonly memory: number
}

const fill = Enzyme.make({
  name: "fill",
  query: "/signals/fill",
  run: (tx, { payload }) => {
    for (let n = 0; n < DOCUMENTS; n++) tx.set(`/data/big/${payload as number}/${n}`, `${n} ${"abcdefgh".repeat(BYTES / 8)}`)
  }
})

const count = Enzyme.make({
  name: "count",
  query: "/signals/count",
  run: (tx, { payload }) => tx.increment(`/data/count/${payload as number}`)
})

const [folder = "", phase, amount] = process.argv.slice(2)

/** Runs a body over the space. */
const life = <A>(isFilling: boolean, body: (space: Space) => Effect.Effect<A, unknown, Kernel>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const kernel = yield* Kernel
    for (const enzyme of [fill, count]) yield* kernel.register(enzyme)
    return yield* body(yield* kernel.space("home"))
  }).pipe(Effect.provide(BenchKernel.layer(isFilling ? unsynced(0)({ folder, options: {} }) : BenchKernel.stored(sqlite, folder))))))

/** Signals at a rate, until they are stopped. */
class Load {
  /** The time from each signal to its receipt, in milliseconds. */
  times: Array<number> = []
  private isOver = false
  private readonly over: Promise<void>

  constructor(space: Space, rate: number) {
    this.over = this.run(space, rate)
  }

  async stop(): Promise<void> {
    this.isOver = true
    await this.over
  }

  private async run(space: Space, rate: number): Promise<void> {
    const began = performance.now()
    let sent = 0
    let open = 0
    while (!this.isOver || open > 0) {
      const due = this.isOver ? sent : Math.floor((performance.now() - began) * rate / 1000)
      for (; sent < due; sent++) {
        // Its time begins when it is due, so that a turn that lasts counts.
        const at = began + sent * 1000 / rate
        open++
        space.post({ signal: "/signals/count", payload: sent % CHANGED }, {
          settled: () => {
            open--
            this.times.push(performance.now() - at)
          },
          fail: (error) => {
            throw error
          }
        })
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}

interface Exported {
  readonly bytes: number
  readonly seconds: number
  /** The times of all steps, in milliseconds. */
  readonly steps: ReadonlyArray<number>
}

/** Exports into a file, for some seconds at most. */
const exported = (space: Space, file: string, most = Infinity): Effect.Effect<Exported, unknown> =>
  Effect.scoped(Effect.gen(function*() {
    const began = performance.now()
    const pin = yield* space.pin
    const steps: Array<number> = []
    let since = performance.now()
    const rest = pin.rest.bind(pin)
    pin.rest = (size) => {
      const pause = rest(size)
      if (pause === undefined) return undefined
      steps.push(performance.now() - since)
      return pause.then(() => {
        since = performance.now()
      })
    }
    const bytes = yield* Effect.promise(async () => {
      const out = openSync(file, "w")
      let bytes = 0
      for await (const piece of Export.frame(pin, { hash })) {
        // The disk is no part of a step.
        steps.push(performance.now() - since)
        bytes += writeSync(out, piece)
        since = performance.now()
        if (performance.now() - began > most * 1000) break
      }
      closeSync(out)
      return bytes
    })
    return { bytes, seconds: (performance.now() - began) / 1000, steps }
  }))

/** Imports a frame into a new space. Returns the seconds. */
const imported = Effect.fnUntraced(function*(file: string) {
  const kernel = yield* Kernel
  const began = performance.now()
  const store = yield* kernel.importing("copy")
  const importer = new Import(store, { hash }, { id: "bench", why: "copy" })
  const from = openSync(file, "r")
  for (let buffer = new Uint8Array(SLICE), length = readSync(from, buffer); length > 0; length = readSync(from, buffer)) {
    yield* importer.take(buffer.slice(0, length), Date.now())
  }
  closeSync(from)
  yield* importer.end()
  return (performance.now() - began) / 1000
}, Effect.scoped)

/** Tells the most memory from now on. */
const memory = (): (() => number) => {
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 20)
  return () => {
    clearInterval(timer)
    return most - before
  }
}

const measured = (rate: number) => (space: Space): Effect.Effect<Report, unknown, Kernel> => Effect.gen(function*() {
  const load = new Load(space, rate)
  const wait = (seconds: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, seconds * 1000)))
  yield* wait(QUIET)
  load.times = []
  yield* wait(QUIET)
  const quiet = quantile(load.times, 0.99)
  load.times = []
  const most = memory()
  const meanwhile = yield* exported(space, join(folder, "meanwhile.frame"), MOST)
  const beyond = most()
  const { times } = load
  yield* Effect.promise(() => load.stop())
  const alone = yield* exported(space, join(folder, "alone.frame"))
  const file = join(folder, "home.sqlite")
  const source = new DatabaseSync(file, { readOnly: true })
  const began = performance.now()
  yield* Effect.promise(() => backup(source, join(folder, "backup.sqlite")))
  const seconds = (performance.now() - began) / 1000
  source.close()
  const restored = yield* imported(join(folder, "alone.frame"))
  return {
    bytes: alone.bytes,
    meanwhile: meanwhile.bytes / meanwhile.seconds,
    alone: alone.bytes / alone.seconds,
    sqlite: statSync(file).size / seconds,
    restore: alone.bytes / restored,
    quiet,
    during: quantile(times, 0.99),
    rate: times.length / meanwhile.seconds,
    step: Math.max(...meanwhile.steps),
    usual: quantile(meanwhile.steps, 0.999),
    memory: beyond
  }
})

if (phase === "fill") {
  const beats = Math.max(1, Math.floor(Number(amount) * 1_048_576 / (2 * DOCUMENTS * BYTES)))
  await life(true, (space) => Effect.forEach(Array.from({ length: beats }, (_, n) => n), (n) =>
    space.handled({ signal: "/signals/fill", payload: n }), { discard: true }))
} else console.log(JSON.stringify(await life(false, measured(Number(amount)))))
