/**
 * The cost of the ledgers: operations started and closed, and a beat with ten due
 * watchers or rendezvous, with and without 100,000 others.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Layer, Scope } from "effect"
import { Enzyme, Kernel, Registry, type Settings, type Space, SystemGrants } from "systole"
import rvInit from "../../enzymes/rv_init.ts"
import memory from "../../plugins/memory.ts"
import sqlite from "../../plugins/sqlite.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

const EVENTS = 1000
const OPEN = 100_000
const DUE = 10

/** The number of watchers of one operation, and of one run. */
const AT_ONE = 1000

const render = { verb: "op/render", target: "/data/scene", mode: "opm:states" } as const

/** The runs of the measured enzymes, by the last name of their signal. */
const verbs: Readonly<Record<string, Enzyme.Definition["run"]>> = {
  write: (tx, event) => tx.set(`/data/bench/${event.id}`, event.payload),
  both: (tx) => tx.op.close(tx.op.start(render), "sts:ok"),
  /** Adds watchers to one operation, with a time-out in beats. */
  open: (tx, event) => {
    const { count, ttl } = event.payload as { readonly count: number; readonly ttl: number }
    const oid = tx.op.start(render)
    for (let i = 0; i < count; i++) tx.op.await(oid, "ist:never", { signal: "/op/cont", ttl })
  },
  /** Spawns rendezvous with a deadline in beats. */
  meet: (tx, event) => {
    const { count, due, name } = event.payload as { readonly count: number; readonly due: number; readonly name: string }
    for (let i = 0; i < count; i++) tx.rv.spawn({ key: `${name}.${i}`, due_off: due, deadl_off: 0 })
  }
}

const enzymes = [
  rvInit,
  ...Object.entries(verbs).map(([name, run]) => Enzyme.make({ name, query: `/signals/bench/${name}`, run })),
  Enzyme.make({ name: "heard", query: "/op/*", bind: ["/rt/ops"], run: () => undefined })
]

const folder = mkdtempSync(join(tmpdir(), "systole-ledgers-"))
const scope = Scope.makeUnsafe()

/** A space over one of the first-party stores. */
const open = (provider: typeof memory, name: string, pace: Settings["pace"]): Promise<Space> => {
  const registry = Layer.fresh(Registry.layer).pipe(Layer.provide(Layer.succeed(SystemGrants, new Set(["rv_init"]))))
  const layer = BenchKernel.layer(BenchKernel.stored(provider, join(folder, name)), { registry, settings: { tempo: 0, pace } })
  return Effect.runPromise(Effect.gen(function*() {
    const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
    return yield* Effect.gen(function*() {
      const kernel = yield* Kernel
      for (const enzyme of enzymes) yield* kernel.register(enzyme)
      return yield* kernel.space(name)
    }).pipe(Effect.provideContext(context))
  }))
}

const ignore = { fail: (error: unknown) => { throw error } }

/** The events of one kind handled per second. */
const handled = (space: Promise<Space>, name: string): Round => async () => {
  const live = await space
  const began = performance.now()
  for (let i = 0; i < EVENTS; i++) live.post({ signal: `/signals/bench/${name}`, target: undefined, payload: i }, ignore)
  await Effect.runPromise(live.idle)
  return EVENTS / (performance.now() - began) * 1000
}

/** A space with many watchers that are not due. */
const waiting = async (provider: typeof memory, name: string, count: number): Promise<Space> => {
  const space = await open(provider, name, "manual")
  for (let left = count; left > 0; left -= AT_ONE) {
    space.post({ signal: "/signals/bench/open", payload: { count: AT_ONE, ttl: 1_000_000_000 } }, ignore)
    await Effect.runPromise(space.step)
  }
  const { operations } = await Effect.runPromise(space.ops.list({ limit: OPEN }))
  const opened = operations.reduce((sum, { watchers }) => sum + watchers, 0)
  if (opened !== count) throw new Error(`${opened} watchers are open, and ${count} should be`)
  return space
}

/** A space with many rendezvous that are not due. */
const pending = async (provider: typeof memory, name: string, count: number): Promise<Space> => {
  const space = await open(provider, name, "manual")
  space.post({ signal: "/CEP:sig_sys/init", payload: 0 }, ignore)
  await Effect.runPromise(space.step)
  for (let left = count; left > 0; left -= AT_ONE) {
    space.post({ signal: "/signals/bench/meet", payload: { count: AT_ONE, due: 1_000_000_000, name: `idle${left}` } }, ignore)
    await Effect.runPromise(space.step)
  }
  const there = await Effect.runPromise(space.examine(({ store }) => store.below("/data/rv", { limit: OPEN + 1 }).length))
  if (there !== count) throw new Error(`${there} rendezvous are pending, and ${count} should be`)
  return space
}

/** The duration of a beat in which ten rendezvous end, in microseconds. */
const ending = (made: Promise<Space>): Round => async () => {
  const space = await made
  space.post({ signal: "/signals/bench/meet", payload: { count: DUE, due: 1, name: "soon" } }, ignore)
  await Effect.runPromise(space.step)
  const began = performance.now()
  await Effect.runPromise(space.step)
  const took = (performance.now() - began) * 1000
  await Effect.runPromise(space.step)
  return took
}

/** The duration of a beat in which ten watchers are due, in microseconds. */
const due = (made: Promise<Space>): Round => async () => {
  const space = await made
  space.post({ signal: "/signals/bench/open", payload: { count: DUE, ttl: 1 } }, ignore)
  await Effect.runPromise(space.step)
  const began = performance.now()
  await Effect.runPromise(space.step)
  const took = (performance.now() - began) * 1000
  await Effect.runPromise(space.step)
  return took
}

const cases = (store: string, provider: typeof memory): ReadonlyArray<Case> => {
  const spaces = { write: open(provider, `${store}-write`, "demand"), both: open(provider, `${store}-both`, "demand") }
  const meetings = { few: pending(provider, `${store}-met-few`, 0), many: pending(provider, `${store}-met-many`, OPEN) }
  const beats = { few: waiting(provider, `${store}-few`, 0), many: waiting(provider, `${store}-many`, OPEN) }
  return [
    {
      name: `${store}, operations started and closed`,
      unit: "events/s",
      baseline: "one write",
      contenders: { "one write": handled(spaces.write, "write"), "start and close": handled(spaces.both, "both") },
      rounds: 15,
      warm: 5
    },
    {
      name: `${store}, a beat with ${DUE} watchers due`,
      unit: "µs",
      baseline: "no others",
      contenders: { "no others": due(beats.few), [`${OPEN} others`]: due(beats.many) },
      rounds: 300,
      warm: 100
    },
    {
      name: `${store}, a beat with ${DUE} rendezvous due`,
      unit: "µs",
      baseline: "no others",
      contenders: { "no others": ending(meetings.few), [`${OPEN} others`]: ending(meetings.many) },
      rounds: 300,
      warm: 100
    }
  ]
}

const bench: Bench = {
  cases: [...cases("memory", memory), ...cases("sqlite", sqlite)],
  note: [
    "Events of one lane follow each other beat by beat, so each operation has a beat of its own.",
    "The bar for the beat with others open is 1.2."
  ].join(" "),
  close: async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench
