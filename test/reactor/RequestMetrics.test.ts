import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, type Kernel, Link, Reactor, type Space, type Transaction, type Value } from "systole"
import { TestReactor } from "systole/testing"
import { ended, enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = {
  bank: { opcodes: { pay: {} }, provider: "acme", telemetry: "bank-eu" },
  cpu: { opcodes: { work: {} }, shim: true }
}

const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return undefined
  return tx.io.request({ signal: "/signals/ask/done", ...payload as { readonly channel: string; readonly opcode: string } })
}, { query: "/signals/ask", match: "prefix" })

const peek = enzyme("peek", (tx) => tx.get("/rt/io_reactors/io"))

const request = (space: Space, payload: unknown) => space.signal({ signal: "/signals/ask", payload })

const bank = "/rt/analytics/async/native/acme/bank-eu"

const withReactor = <A, E>(test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor(channels)
  return Effect.flatMap(TestKernel.space([ask, peek]), (space) => test(space, reactor)).pipe(
    Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>)
  )
}

describe("The views of requests", () => {
  it.effect("count the jobs of each channel, and the durations of the newest ones", () => withReactor((space, reactor) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* space.get(bank), { jobs_total: 0, jobs_active: 0, lat_p50: 0, lat_p99: 0, lat_max: 0 })
      for (let millis = 1; millis <= 4; millis++) {
        yield* request(space, { channel: "bank", opcode: "pay" })
        yield* space.step
        assert.deepInclude(yield* space.get(bank), { jobs_total: millis, jobs_active: 1 })
        yield* TestClock.adjust(millis * 10)
        reactor.complete(reactor.jobs[0]?.rid ?? "")
        yield* steps(space, 2)
      }
      assert.deepStrictEqual(yield* space.get(bank), { jobs_total: 4, jobs_active: 0, lat_p50: 20, lat_p99: 40, lat_max: 40 })
      assert.strictEqual(yield* space.get(`${bank}#/lat_max`), 40)
      yield* request(space, { channel: "cpu", opcode: "work" })
      yield* space.step
      assert.deepInclude(yield* space.get("/rt/analytics/async/shim/script/cpu"), { jobs_total: 1, jobs_active: 1 })
      const state = { state: "running", active_requests: 1, shim_threads: 1, pause_token: null }
      assert.deepStrictEqual(yield* space.get("/rt/io_reactors/io"), state)
      assert.isUndefined(yield* space.get("/rt/analytics/async/native/script/none"))
      yield* replays(space)
    })))

  it.effect("are linked by the request and by its channel", () => withReactor((space, reactor) => Effect.gen(function*() {
    yield* request(space, { channel: "bank", opcode: "pay" })
    yield* space.step
    const rid = reactor.jobs[0]?.rid ?? ""
    for (const cell of [`io_req/${rid}`, "io_chan/bank"]) {
      assert.deepInclude(yield* space.get(`/rt/ops/OPS:io/${cell}`), { telemetry_id: Link.make(bank) as unknown as Value })
      assert.deepInclude(yield* space.get(`/rt/ops/OPS:io/${cell}#/telemetry_id`), { jobs_total: 1, jobs_active: 1 })
    }
    assert.strictEqual(yield* space.get(`/rt/ops/OPS:io/io_req/${rid}#/telemetry_id/jobs_total`), 1)
    yield* replays(space)
  })))

  it.effect("do not count the waiting jobs of a channel as active", () => {
    const busy: Channel.Channel = {
      id: "bank", provider: "busy", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { pay: {} }, execute: () => new Promise(() => {})
    }
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([ask])
      for (let i = 0; i < 3; i++) yield* request(space, { channel: "bank", opcode: "pay", bytes: 5 })
      yield* steps(space, 3)
      yield* turns(1)
      assert.deepInclude(yield* space.get("/rt/analytics/async/native/busy/bank"), { jobs_total: 3, jobs_active: 1 })
      assert.deepInclude(yield* space.get("/rt/analytics/async/reactor/io"), { cq_depth: 3, pending_bytes: 15 })
      const [channel] = yield* space.io.channels
      assert.deepInclude(channel, { channel: "bank", waiting: 2, active: 1 })
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: Reactor.native([busy]) }) as Layer.Layer<Kernel>))
  })

  it.effect("are watched from outside, and no run reads them", () => withReactor((space, reactor) => Effect.gen(function*() {
    const seen: Array<unknown> = []
    const watching = yield* Effect.forkChild(
      Stream.runForEach(space.watch("/rt/io_reactors/io#/active_requests"), ({ value }) => Effect.sync(() => void seen.push(value))),
      { startImmediately: true }
    )
    yield* turns()
    yield* request(space, { channel: "bank", opcode: "pay" })
    yield* space.step
    yield* turns()
    reactor.complete(reactor.jobs[0]?.rid ?? "")
    yield* space.step
    yield* turns()
    assert.deepStrictEqual(seen, [0, 1, 0])
    yield* Fiber.interrupt(watching)
    const { id } = yield* space.signal({ signal: "/signals/peek" })
    yield* space.step
    assert.deepStrictEqual((yield* ended(space, id))?.map((line) => line.split(" ").slice(0, 2)), [["peek", "dead"]])
  })))

  it.effect("show a pause that drains, with its operation", () => withReactor((space) => Effect.gen(function*() {
    yield* request(space, { channel: "bank", opcode: "pay" })
    yield* space.step
    const paused = yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
    yield* space.step
    const { oid } = yield* Fiber.join(paused)
    yield* space.step
    assert.deepInclude(yield* space.get("/rt/io_reactors/io"), { state: "draining", active_requests: 1, pause_token: oid })
  })))
})
