import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { type Channel, type IoResult, type Kernel, Reactor, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { isReplayedEqual } from "./ReplayCheck.ts"

const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} } },
  cpu: { opcodes: { work: {} }, shim: true }
}

/** Makes requests by its payload, and keeps their results. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  const { times = 1, ...request } = payload as { readonly times?: number; readonly channel: string; readonly opcode: string }
  for (let i = 0; i < times; i++) tx.io.request({ signal: "/signals/ask/done", ...request })
}, { query: "/signals/ask", match: "prefix" })

const OID = "OPS:0.0.0"

/** Records asynchronous work of its own. */
const record = enzyme("record", (tx, { payload }) => {
  const { io, op } = tx
  const answers: Readonly<Record<string, () => unknown>> = {
    start: () => op.start({ verb: "op/copy", target: "/data/file", mode: "opm:states" }),
    all: () => [
      io.recordChannel(OID, "chn:serial", {
        target_path: "/data/file", provider_id: "prov:serial", reactor_id: "react:ser", caps: ["sync"], shim: true
      }),
      io.recordRequest(OID, "r1", {
        state: "pending", channel: "chn:serial", opcode: "write", beats_budget: 7, deadline_beat: 12, deadline_unix_ns: 33,
        bytes_expected: 2048, bytes_done: 128, errno: -13, telemetry_id: "t1"
      }),
      io.recordReactor(OID, { draining: true, paused: false })
    ],
    again: () => io.recordRequest(OID, "r1", { state: "complete", bytes_done: 2048 }),
    wrong: () => [
      io.recordRequest("OPS:9.9.9", "r1", { state: "pending" }),
      io.recordRequest(OID, "no/name", { state: "pending" }),
      io.recordChannel(OID, "", { shim: true }),
      io.recordReactor("none", { draining: true })
    ]
  }
  tx.set(`/data/answers/${String(payload)}`, answers[String(payload)]?.())
})

interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

const withReactor = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor(channels)
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, record])
    yield* test({ reactor, space })
    yield* isReplayedEqual(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const request = (space: Space, payload: unknown) => space.signal({ signal: "/signals/ask", payload })

/** The results that the enzyme received so far. */
const results = (space: Space) => Effect.map(space.get("/data/results"), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

const stateOf = (space: Space, rid: string) => space.get(`/rt/ops/OPS:io/io_req/${rid}#/state`)

const topics = Effect.fnUntraced(function*(space: Space) {
  const names = yield* space.list("/data/mailbox/diag/msgs")
  return yield* Effect.forEach(names, (name) => space.get(`/data/mailbox/diag/msgs/${name}#/topic`))
})

describe("N: asynchronous requests", () => {
  it.effect("N1 a record of a channel, a request and a reactor reads back exactly", () => withReactor(({ space }) =>
    Effect.gen(function*() {
      for (const payload of ["start", "all"]) yield* space.signal({ signal: "/signals/record", payload })
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/answers/all"), [true, true, true])
      const dossier = `/rt/ops/${OID}`
      assert.deepStrictEqual(yield* space.get(`${dossier}/io_req/r1`), {
        state: "pending", channel: "chn:serial", opcode: "write", beats_budget: 7, deadline_beat: 12, deadline_unix_ns: 33,
        bytes_expected: 2048, bytes_done: 128, errno: -13, telemetry_id: "t1"
      })
      assert.deepStrictEqual(yield* space.get(`${dossier}/io_reactor`), { draining: true, paused: false })
      assert.deepStrictEqual(yield* space.get(`${dossier}/io_chan/chn:serial`), {
        target_path: "/data/file", provider_id: "prov:serial", reactor_id: "react:ser", caps: ["sync"], shim: true
      })
    })))

  it.effect("N2 a second record of a request changes its fields alone, and a channel has watchers", () => withReactor(({ space }) =>
    Effect.gen(function*() {
      for (const payload of ["start", "all", "again"]) yield* space.signal({ signal: "/signals/record", payload })
      yield* steps(space, 3)
      assert.strictEqual(yield* space.get("/data/answers/again"), true)
      const request = yield* space.get(`/rt/ops/${OID}/io_req/r1`)
      assert.deepInclude(request, { state: "complete", bytes_done: 2048, errno: -13, beats_budget: 7 })
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${OID}/io_chan/chn:serial/watchers`), {})
    })))

  it.effect("N3 an unknown operation or an invalid name is answered with false, and nothing is written", () => withReactor(({ space }) =>
    Effect.gen(function*() {
      for (const payload of ["start", "wrong"]) yield* space.signal({ signal: "/signals/record", payload })
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get("/data/answers/wrong"), [false, false, false, false])
      assert.deepStrictEqual(yield* space.list(`/rt/ops/${OID}`), ["envelope"])
    })))

  it.effect("N4 a request that is done at once is pending until the next drain", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      const rid = reactor.jobs[0]?.rid ?? ""
      reactor.complete(rid)
      assert.strictEqual(yield* stateOf(space, rid), "pending")
      yield* space.step
      assert.strictEqual(yield* stateOf(space, rid), "complete")
    })))

  it.effect("N6 a completion that arrives during a beat is captured by the next", () => {
    const reactor = new TestReactor(channels)
    const meddle = enzyme("meddle", (tx) => {
      const rid = reactor.jobs[0]?.rid ?? ""
      reactor.complete(rid)
      tx.set("/data/seen", tx.io.get(rid)?.state)
    })
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([ask, meddle])
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      const rid = reactor.jobs[0]?.rid ?? ""
      yield* space.signal({ signal: "/signals/meddle" })
      yield* space.step
      assert.deepStrictEqual([yield* space.get("/data/seen"), yield* stateOf(space, rid)], ["pending", "pending"])
      yield* space.step
      assert.strictEqual(yield* stateOf(space, rid), "complete")
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
  })

  it.effect("N7 a success without a count has the expected bytes, and an unknown failure is EIO", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "pay", bytes: 40, times: 2 })
      yield* space.step
      const [first, second] = reactor.jobs
      assert.ok(first)
      assert.ok(second)
      reactor.complete(first.rid)
      reactor.fail(second.rid, new Error("no number"))
      yield* steps(space, 2)
      const [done, failed] = yield* results(space)
      assert.deepInclude(done, { state: "complete", bytes_done: 40 })
      assert.deepInclude(failed, { state: "fail", errno: -5 })
    })))

  it.effect("N9 a queued request can miss its deadline, too", () => {
    const started: Array<string> = []
    const busy: Channel.Channel = {
      id: "bank", provider: "busy", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { charge: {} },
      execute: ({ rid }) => {
        started.push(rid)
        return new Promise(() => {})
      }
    }
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([ask])
      yield* request(space, { channel: "bank", opcode: "charge", budget: 2, times: 2 })
      yield* steps(space, 4)
      assert.strictEqual(started.length, 1)
      assert.deepStrictEqual((yield* results(space)).map(({ code }) => code), ["io/timeout", "io/timeout"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: Reactor.native([busy]) }) as Layer.Layer<Kernel>))
  })

  it.effect("N10 a job of a shim reports tp_async_unsp once, a native one does not", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "cpu", opcode: "work", times: 2 })
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      for (const { rid } of reactor.jobs) reactor.complete(rid)
      yield* space.step
      assert.deepStrictEqual(yield* topics(space), ["tp_async_unsp"])
    })))

  it.effect("N11 a pause over finished requests does not wait", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      reactor.complete(reactor.jobs[0]?.rid ?? "")
      yield* space.step
      yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
      yield* steps(space, 5)
      assert.strictEqual((yield* space.control.state).state, "paused")
    })))

  it.effect("N12 a pause drains first, and fails over a request that hangs for two beats", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "pay" })
      yield* space.step
      const [job] = reactor.jobs
      assert.ok(job)
      yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
      yield* steps(space, 4)
      assert.strictEqual(yield* stateOf(space, job.rid), "pending")
      yield* steps(space, 2)
      assert.strictEqual(yield* stateOf(space, job.rid), "cnl")
      assert.isTrue(job.signal.aborted)
      assert.strictEqual((yield* space.control.state).state, "running")
      assert.sameMembers([...yield* topics(space)], ["persist.async.tmo", "control/failed"])
    })))

  it.effect("N28 the same inputs make the same history in the synchronous and the native mode", () => Effect.gen(function*() {
    /** A channel that answers after several turns of the host, the later requests first. */
    const bank: Channel.Channel = {
      id: "bank", provider: "slow", hosts: ["node", "deno", "bun"], opcodes: { charge: {} },
      execute: ({ payload }) => Effect.runPromise(Effect.as(turns(10 - Number(payload)), { value: payload }))
    }
    const history = (reactor: Layer.Layer<Reactor>, settle: (space: Space) => Effect.Effect<void>) => Effect.gen(function*() {
      const space = yield* TestKernel.space([ask])
      for (const payload of [1, 2, 3]) yield* request(space, { channel: "bank", opcode: "charge", payload })
      for (let beat = 0; beat < 7; beat++) {
        yield* space.step
        yield* settle(space)
      }
      yield* isReplayedEqual(space)
      return { results: yield* results(space), dossier: yield* space.ops.get("OPS:io"), head: yield* space.head }
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor }) as Layer.Layer<Kernel>))
    const sync = yield* history(Reactor.sync([bank]), () => Effect.void)
    const native = yield* history(Reactor.native([bank]), () => turns(20))
    assert.strictEqual(sync.results.length, 3)
    assert.deepStrictEqual(sync, native)
  }))

  it.effect("N14 the depth counts pending and running requests, completions are per beat, time-outs and totals only grow", () =>
    withReactor(({ reactor, space }) => Effect.gen(function*() {
      const metrics = Effect.map(space.get("/rt/analytics/async/reactor/io"), (found) => found as unknown as Record<string, number>)
      yield* request(space, { channel: "bank", opcode: "charge", times: 3, bytes: 10, attempts: 1 })
      yield* space.step
      yield* request(space, { channel: "bank", opcode: "pay", budget: 2 })
      yield* space.step
      const expected = { cq_depth: 4, pending_bytes: 30, completions_per_beat: 0, timeouts: 0, jobs_total: 4 }
      assert.deepStrictEqual(yield* metrics, expected)
      const [first, second] = reactor.jobs
      reactor.complete(first?.rid ?? "")
      reactor.fail(second?.rid ?? "", new Error("no"))
      assert.deepStrictEqual(yield* metrics, { ...expected, cq_depth: 2, pending_bytes: 10 })
      yield* space.step
      assert.deepInclude(yield* metrics, { completions_per_beat: 2, timeouts: 0 })
      yield* space.step
      assert.deepInclude(yield* metrics, { cq_depth: 1, completions_per_beat: 0, timeouts: 1, jobs_total: 4 })
      yield* request(space, { channel: "bank", opcode: "charge", budget: 1 })
      yield* steps(space, 3)
      assert.deepInclude(yield* metrics, { cq_depth: 1, timeouts: 2, jobs_total: 5 })
      reactor.complete(reactor.jobs[0]?.rid ?? "")
      for (const completions_per_beat of [1, 0, 0]) {
        yield* space.step
        assert.deepInclude(yield* metrics, { cq_depth: 0, completions_per_beat, timeouts: 2, jobs_total: 5 })
      }
    })))

  it.effect("N29 a restart repeats repeatable requests with their keys, and interrupts the others", () => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make([ask], reactor.layer)
    const before = yield* machine.boot()
    const space = yield* before.space("n29", { create: true })
    for (const opcode of ["charge", "pay", "charge"]) yield* request(space, { channel: "bank", opcode, attempts: 1 })
    yield* steps(space, 3)
    const [first, second, third] = reactor.jobs
    assert.ok(first && second && third)
    reactor.complete(third.rid)
    yield* space.step
    reactor.crash()
    const after = yield* (yield* machine.boot()).space("n29")
    yield* after.step
    assert.deepStrictEqual(reactor.jobs.map(({ attempt, key, rid }) => [rid, key, attempt]), [[first.rid, first.key, 1]])
    reactor.complete(first.rid)
    yield* steps(after, 2)
    const ended = (yield* results(after)).map(({ code, rid, state }) => [rid, state, code])
    assert.sameDeepMembers(ended, [
      [third.rid, "complete", undefined], [second.rid, "fail", "io/interrupted"], [first.rid, "complete", undefined]
    ])
    assert.strictEqual(reactor.submitted.filter(({ rid }) => rid === second.rid).length, 1)
    yield* isReplayedEqual(after)
  }).pipe(Effect.scoped))
})
