/**
 * A long backlog on one lane: events queue up during a long run, and then one is
 * handled in each beat. Neither the rate nor the heap may depend on the length of
 * the queue.
 *
 * `EVENTS=n` queues n events instead of 1,000,000.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { defaults, Enzyme, Kernel, type Space } from "systole"
import memory from "../../plugins/memory.ts"
import sqlite from "../../plugins/sqlite.ts"
import type { Bench, Case } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

const EVENTS = Number(process.env["EVENTS"] ?? 1_000_000)
const PARTS = 10

/** The number of events posted before the first answer. */
const POSTED = 1000

const MIB = 1_048_576

/** The measurements of one space. */
interface Measured {
  readonly accepted: number
  /** Events per second, tenth by tenth. */
  readonly drained: ReadonlyArray<number>
  readonly heap: Memory
  readonly rss: Memory
}

/** Memory in MiB before the first event, with a full queue, and at most during the draining, which is mostly garbage. */
interface Memory {
  readonly before: number
  readonly queued: number
  readonly peak: number
}

const limits = { ...defaults, inboxSignals: EVENTS + POSTED, inboxBytes: 1024 * EVENTS }
const settings = { retention: { journalBytes: 64 * MIB }, limits }
const folder = mkdtempSync(join(tmpdir(), "systole-bench-"))

/** Posts all events, with the concurrency of a server. */
const fill = async (space: Space): Promise<void> => {
  for (let sent = 0; sent < EVENTS;) {
    await new Promise<void>((resolve, reject) => {
      let left = Math.min(POSTED, EVENTS - sent)
      const accepted = (): void => {
        if (--left === 0) resolve()
      }
      for (let i = left; i > 0; i--) {
        space.post({ signal: "/signals/lane", payload: { n: sent++, note: "x".repeat(80) } }, { accepted, fail: reject })
      }
    })
  }
}

/** Collects garbage, on hosts that offer it. */
const collect = (): void => {
  try {
    setFlagsFromString("--expose-gc")
    runInNewContext("gc()")
  } catch {
    // The figures then include garbage.
  }
}

/** Samples the memory in use. */
const gauge = (kind: "heapUsed" | "rss") => {
  const now = (): number => process.memoryUsage()[kind] / MIB
  const memory = { before: now(), queued: 0, peak: 0 }
  return { memory, look: () => { memory.peak = Math.max(memory.peak, now()) }, queued: () => { memory.queued = now() } }
}

const live = (provider: typeof memory) =>
  Effect.gen(function*() {
    const kernel = yield* Kernel
    let handled = 0
    let release = (): void => {}
    const times: Array<number> = []
    collect()
    const gauges = [gauge("heapUsed"), gauge("rss")] as const
    yield* kernel.register(Enzyme.make({
      name: "hold",
      query: "/signals/hold",
      limitMs: 3_600_000,
      run: () => new Promise<void>((resolve) => { release = resolve })
    }))
    yield* kernel.register(Enzyme.make({
      name: "lane",
      query: "/signals/lane",
      lane: "space",
      run: (tx) => {
        if (handled++ % Math.ceil(EVENTS / PARTS) === 0) times.push(performance.now())
        if (handled % 1000 === 0) for (const each of gauges) each.look()
        tx.increment("/data/n")
      }
    }))
    const space = yield* kernel.space("bench")
    yield* space.signal({ signal: "/signals/hold" })
    const began = performance.now()
    yield* Effect.promise(() => fill(space))
    const accepted = EVENTS / (performance.now() - began) * 1000
    collect()
    for (const each of gauges) each.queued()
    release()
    yield* space.idle
    times.push(performance.now())
    const drained = times.slice(1).map((time, i) => EVENTS / PARTS / (time - times[i]!) * 1000)
    return { accepted, drained, heap: gauges[0].memory, rss: gauges[1].memory }
  }).pipe(Effect.provide(BenchKernel.layer(BenchKernel.stored(provider, folder), { settings })))

/** The cases of one space over one store. They share one execution, and compare with its first tenth. */
const cases = (store: string, provider: typeof memory): ReadonlyArray<Case> => {
  let running: Promise<Measured> | undefined
  const measured = (): Promise<Measured> => running ??= Effect.runPromise(Effect.scoped(live(provider)))
  const once = { rounds: 1, warm: 0 }
  const megabytes = (name: "heap" | "rss"): Case => ({
    ...once,
    name: `${store}, ${name}`,
    unit: "MiB",
    baseline: "before",
    contenders: {
      before: async () => (await measured())[name].before,
      queued: async () => (await measured())[name].queued,
      "peak while drained": async () => (await measured())[name].peak
    }
  })
  const tenths = Array.from({ length: PARTS }, (_, i) => [`tenth ${i + 1}`, async () => (await measured()).drained[i]!] as const)
  return [
    {
      ...once,
      name: `${store}, accepted`,
      unit: "events/s",
      baseline: "posted",
      contenders: { posted: async () => (await measured()).accepted }
    },
    { ...once, name: `${store}, drained`, unit: "events/s", baseline: "tenth 1", contenders: Object.fromEntries(tenths) },
    megabytes("heap"),
    megabytes("rss")
  ]
}

const bench: Bench = {
  cases: [...cases("sqlite", sqlite), ...cases("memory", memory)],
  note: [
    `${EVENTS} events on one lane. The last tenth is to drain at 0.8 of the rate of the first at least.`,
    "Over SQLite the heap holds a number for each event that waits; over the memory store it is the store, too."
  ].join(" "),
  close: () => rmSync(folder, { recursive: true, force: true })
}

export default bench
