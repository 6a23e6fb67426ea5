import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Channel, type Kernel, Reactor, type Space } from "systole"
import { TestReactor } from "systole/testing"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import rvInit from "../../enzymes/rv_init.ts"
import rvWork from "../../enzymes/rv_work.ts"
import worker from "../../plugins/worker.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme } from "../kernel/TestSpace.ts"
import { current } from "../scripts/Host.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const { ask, begin, event, isReplayedEqual, steps } = RendezvousSpace

/** Spawns a rendezvous, and sends its work, in one run. */
const hand = enzyme("do", (tx, { payload }) => {
  tx.rv.spawn({ key: "job", telemetry: { progress: 0 } })
  if (payload !== "again") tx.signal({ signal: "/CEP:rv_work/job", payload: { fn: "resize", input: { width: 3 } } })
}, { query: "/signals/do" })

const kill = enzyme("kill", (tx) => tx.rv.kill("job"), { query: "/signals/kill" })

const enzymes = [rvInit, rvWork, hand, kill]

/** The result of the work's handling. */
const result = Effect.fnUntraced(function*(space: Space) {
  const found: Array<unknown> = []
  for (let beat = 0; beat <= (yield* space.head); beat++) {
    const { text = "{}" } = (yield* space.journal(beat)) ?? {}
    const { runs = [] } = JSON.parse(text.split("\n")[0] ?? "{}") as {
      readonly runs?: ReadonlyArray<readonly [number, string, unknown]>
    }
    for (const [, name, value] of runs) if (name === "rv_work" && Array.isArray(value)) found.push(value[0])
  }
  return found
})

/** Runs a test in a space with a job that waits on a scripted worker, and replays its journal. */
const working = (test: (space: Space, reactor: TestReactor) => Effect.Effect<unknown, unknown, Kernel>) => {
  const reactor = new TestReactor({ worker: { opcodes: { run: {} }, shim: true } })
  return Effect.gen(function*() {
    const space = yield* Effect.flatMap(TestKernel.space(enzymes), begin)
    yield* ask(space, "do")
    yield* steps(space, 1)
    assert.deepStrictEqual(reactor.jobs.map(({ payload }) => payload), [{ fn: "resize", input: { width: 3 } }])
    yield* test(space, reactor)
    yield* isReplayedEqual(space)
  }).pipe(
    Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>),
    RendezvousSpace.granted
  )
}

const rid = (reactor: TestReactor): string => reactor.jobs[0]?.rid ?? ""

describe("The background work of a rendezvous", () => {
  it.effect("reports its value as telemetry", () => working((space, reactor) => Effect.gen(function*() {
    reactor.complete(rid(reactor), { value: { bytes: 7 } })
    yield* steps(space, 2)
    assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { bytes: 7 } })
    assert.deepStrictEqual(yield* result(space), ["applied"])
  })))

  it.effect("reports a value that is no object as a field", () => working((space, reactor) => Effect.gen(function*() {
    reactor.complete(rid(reactor), { value: [1, 2] })
    yield* steps(space, 2)
    assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { value: [1, 2] } })
  })))

  it.effect("kills it if it fails, once", () => working((space, reactor) => Effect.gen(function*() {
    reactor.fail(rid(reactor), Channel.fail("worker/failed", "no"))
    yield* steps(space, 4)
    assert.deepInclude(yield* event(space, "job"), { outcome: "killed" })
    assert.deepStrictEqual(yield* result(space), ["worker/failed"])
  })))

  it.effect("leaves one that ended before", () => working((space, reactor) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/kill", payload: {} })
    yield* steps(space, 3)
    reactor.complete(rid(reactor), { value: { bytes: 7 } })
    yield* steps(space, 2)
    assert.deepInclude(yield* event(space, "job"), { outcome: "killed" })
    assert.deepStrictEqual(yield* result(space), ["over"])
  })))

  it.effect("leaves one that was spawned again meanwhile", () => working((space, reactor) => Effect.gen(function*() {
    yield* ask(space, "again")
    reactor.complete(rid(reactor), { value: { bytes: 7 } })
    yield* steps(space, 3)
    assert.isUndefined(yield* event(space, "job"))
    assert.deepStrictEqual(yield* result(space), ["over"])
  })))

  it.effect("kills it if a restart interrupted the work, and works again if that is repeatable", () => Effect.gen(function*() {
    for (const [repeatable, outcome] of [[false, "killed"], [true, "applied"]] as const) {
      const reactor = new TestReactor({ worker: { opcodes: { run: { repeatable } }, shim: true } })
      const machine = yield* RestartableKernel.make(enzymes, reactor.layer)
      const before = yield* Effect.flatMap(Effect.flatMap(machine.boot(), (kernel) => kernel.space("test")), begin)
      yield* ask(before, "do")
      yield* steps(before, 1)
      reactor.crash()
      const after = yield* (yield* machine.boot()).space("test")
      yield* steps(after, 1)
      for (const job of reactor.jobs) reactor.complete(job.rid, { value: { bytes: 7 } })
      yield* steps(after, 4)
      assert.deepInclude(yield* event(after, "job"), { outcome })
      yield* isReplayedEqual(after)
    }
  }).pipe(Effect.scoped, RendezvousSpace.granted))

  it.live("runs on a thread", () => Effect.gen(function*() {
    const root = mkdtempSync(join(tmpdir(), "systole-work-"))
    writeFileSync(join(root, "work.mts"), "export const resize = ({ width }) => ({ area: width * width })\n")
    const settings = { id: "worker", root, folder: root, host: current(), options: { module: "work.mts" } }
    const made = worker.provides.channels?.["worker"]?.(settings)
    if (made === undefined) throw new Error("the plugin has no channel")
    const channel: Channel.Channel = { ...made, id: "worker" }
    const layer = TestKernel.layer({ pace: "demand" }, undefined, { reactor: Reactor.native([channel]) }) as Layer.Layer<Kernel>
    yield* Effect.gen(function*() {
      const space = yield* TestKernel.space(enzymes)
      yield* space.signal({ signal: "/CEP:sig_sys/init" })
      yield* space.signal({ signal: "/signals/do", payload: "do" })
      while ((yield* event(space, "job")) === undefined) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { area: 9 } })
    }).pipe(Effect.provide(layer), RendezvousSpace.granted)
    rmSync(root, { recursive: true, force: true })
  }))
})
