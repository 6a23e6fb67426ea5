import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer } from "effect"
import { Channel, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} } },
  cpu: { opcodes: { work: {} }, shim: true },
  mail: { opcodes: { send: {} }, clearance: ["secret"] }
}

/** Asks by its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  const { times = 1, ...request } = payload as { readonly times?: number; readonly channel: string; readonly opcode: string }
  return Array.from({ length: times }, () => tx.io.request({ signal: "/signals/ask/done", ...request }))
}, { query: "/signals/ask", match: "prefix" })

const cancel = enzyme("cancel", (tx, { payload }) => tx.io.cancel(String(payload)))

const relay = enzyme("relay", (tx, { payload }) => tx.signal({ signal: "/signals/ask", payload }))

/** Records work of its own where the runtime has its requests. */
const record = enzyme("record", (tx, { payload }) => tx.set("/data/recorded", [
  tx.io.recordRequest("OPS:io", String(payload), { state: "complete" }),
  tx.io.recordChannel("OPS:io", "bank", { shim: true }),
  tx.io.recordReactor("OPS:io", { draining: true })
]))

const request = (space: Space, payload: unknown) => space.signal({ signal: "/signals/ask", payload })

const resultsOf = (space: Space) => Effect.map(space.get("/data/results"), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

const reqOf = (space: Space, rid: string) => space.get(`/rt/ops/OPS:io/io_req/${rid}`)

interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

/** Runs a test in a space over a scripted reactor, and replays its journal. */
const withReactor = <A, E>(
  test: (world: World) => Effect.Effect<A, E, Kernel>,
  settings: Parameters<typeof TestKernel.layer>[0] = {}
) => {
  const reactor = new TestReactor(channels)
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, record, cancel, relay])
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer(settings, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

describe("Requests", () => {
  it.effect("are submitted after their beat is durable, and complete once, in the next drain", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge", payload: { cents: 100 }, bytes: 7 })
      assert.deepStrictEqual(reactor.jobs, [])
      yield* space.step
      const [job] = reactor.jobs
      assert.ok(job)
      assert.deepInclude(job, { opcode: "charge", attempt: 1, payload: { cents: 100 } })
      assert.deepInclude(yield* reqOf(space, job.rid), { state: "pending", channel: "bank", opcode: "charge" })
      reactor.complete(job.rid, { value: { receipt: 17 } })
      assert.deepInclude(yield* reqOf(space, job.rid), { state: "pending" })
      yield* space.step
      assert.deepInclude(yield* reqOf(space, job.rid), { state: "complete", bytes_done: 7 })
      yield* space.step
      const [result] = yield* resultsOf(space)
      assert.deepInclude(result, { rid: job.rid, state: "complete", value: { receipt: 17 }, bytes_done: 7, attempt: 1 })
      assert.throws(() => reactor.complete(job.rid), "No job of request")
    })))

  it.effect("wait 1, 2, 4 beats for another attempt, with the same key", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      const rid = reactor.jobs[0]?.rid ?? ""
      const error = Channel.fail("io/unreachable", "no route", { errno: -113, retryable: true })
      reactor.fail(rid, error)
      yield* space.step
      assert.deepInclude(yield* reqOf(space, rid), { state: "pending_retry", errno: -113, code: "io/unreachable" })
      yield* space.step
      reactor.fail(rid, error)
      yield* steps(space, 3)
      assert.deepStrictEqual(reactor.submitted.map(({ attempt }) => attempt), [1, 2, 3])
      assert.strictEqual(new Set(reactor.submitted.map(({ key }) => key)).size, 1)
      reactor.fail(rid, error)
      yield* steps(space, 2)
      assert.deepInclude((yield* resultsOf(space))[0], { state: "fail", errno: -113, code: "io/unreachable", note: "no route", attempt: 3 })
    })))

  it.effect("of a chain of signals continue the chain, also in a replay", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      for (const id of ["17", "5"]) {
        yield* space.signal({ signal: "/signals/relay", id, payload: { channel: "bank", opcode: "charge" } })
        yield* space.step
      }
      yield* space.step
      for (const { rid } of reactor.jobs) {
        assert.strictEqual(yield* space.get(`/rt/ops/OPS:io/io_req/${rid}#/depth`), 2)
        reactor.complete(rid)
      }
      yield* steps(space, 3)
      assert.strictEqual((yield* resultsOf(space)).length, 2)
    })))

  it.effect("that fail for good are not repeated", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge", attempts: 3 })
      yield* space.step
      reactor.fail(reactor.jobs[0]?.rid ?? "", Channel.fail("bank/closed", "closed"))
      yield* steps(space, 4)
      assert.strictEqual(reactor.submitted.length, 1)
      assert.deepInclude((yield* resultsOf(space))[0], { state: "fail", code: "bank/closed", attempt: 1 })
    })))

  it.effect("that succeed after a failure have no code of it", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      const rid = reactor.jobs[0]?.rid ?? ""
      reactor.fail(rid, Channel.fail("io/unreachable", "no route", { errno: -113, retryable: true }))
      yield* steps(space, 2)
      reactor.complete(rid, { value: 1 })
      yield* steps(space, 2)
      const [result] = yield* resultsOf(space)
      assert.deepStrictEqual(result, { rid, channel: "bank", opcode: "charge", state: "complete", value: 1, bytes_done: 0, attempt: 2 })
      const cell: unknown = yield* reqOf(space, rid)
      assert.doesNotHaveAnyKeys(cell, ["code", "errno"])
    })))

  it.effect("of an opcode that is not repeatable have one attempt, unless they name more", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      for (const more of [{}, { attempts: 2 }]) yield* request(space, { channel: "bank", opcode: "pay", ...more })
      yield* steps(space, 2)
      for (const { rid } of reactor.jobs) reactor.fail(rid, Channel.fail("io/busy", "busy", { retryable: true }))
      yield* steps(space, 4)
      assert.deepStrictEqual(reactor.submitted.map(({ attempt }) => attempt), [1, 1, 2])
    })))

  it.effect("miss their deadline in beats, and a later outcome is ignored", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge", budget: 2 })
      yield* space.step
      const [job] = reactor.jobs
      assert.ok(job)
      yield* steps(space, 1)
      assert.isFalse(job.signal.aborted)
      yield* steps(space, 2)
      assert.isTrue(job.signal.aborted)
      assert.deepInclude((yield* resultsOf(space))[0], { state: "fail", errno: -110, code: "io/timeout" })
      assert.throws(() => reactor.complete(job.rid), "No job of request")
    })))

  it.effect("are cancelled by a run, once", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "pay" })
      yield* space.step
      const rid = reactor.jobs[0]?.rid ?? ""
      yield* space.signal({ signal: "/signals/cancel", payload: rid })
      yield* space.signal({ signal: "/signals/cancel", payload: rid })
      yield* steps(space, 3)
      const results = yield* resultsOf(space)
      assert.deepStrictEqual(results.map(({ code, state }) => [state, code]), [["cnl", "io/cancelled"]])
      assert.deepStrictEqual(reactor.jobs, [])
    })))

  it.effect("are captured in the order of their submission", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge", times: 3 })
      yield* space.step
      const rids = reactor.jobs.map(({ rid }) => rid)
      for (const rid of rids.toReversed()) reactor.complete(rid)
      yield* steps(space, 2)
      assert.deepStrictEqual((yield* resultsOf(space)).map(({ rid }) => rid), rids)
    })))

  it.effect("beyond the limit of the space end their run as reactor/full, which is retried", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "bank", opcode: "charge", times: 2 })
      yield* request(space, { channel: "bank", opcode: "pay", times: 2 })
      yield* steps(space, 2)
      assert.deepStrictEqual(reactor.jobs.map(({ opcode }) => opcode), ["charge", "charge"])
      const list = yield* space.waiting({ limit: 10 })
      assert.strictEqual(list.waiting.length, 1)
      for (const { rid } of reactor.jobs) reactor.complete(rid)
      yield* steps(space, 5)
      assert.deepStrictEqual(reactor.jobs.map(({ opcode }) => opcode), ["pay", "pay"])
    }), { limits: { ...TestKernel.settings.limits, ioRequests: 3 } }))

  it.effect("are refused for an unknown channel or opcode, and for a signal that nobody takes", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      const wrong = [
        [{ channel: "none", opcode: "x" }, "io/channel-absent"],
        [{ channel: "bank", opcode: "rob" }, "io/opcode-absent"],
        [{ channel: "bank", opcode: "pay", signal: "/signals/nobody" }, "io/unheard"],
        [{ channel: "bank", opcode: "pay", budget: -1 }, "io/invalid"],
        [{ channel: "bank", opcode: "pay", attempts: 0 }, "io/invalid"]
      ] as const
      for (const [asked, code] of wrong) {
        const { id } = yield* request(space, asked)
        yield* space.step
        assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, code)
      }
      assert.deepStrictEqual(reactor.submitted, [])
    })))

  it.effect("are taken back by a rollback: none is asked again, and its dossier lists them", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      const retried = Channel.fail("io/busy", "busy", { retryable: true })
      yield* request(space, { channel: "bank", opcode: "charge", times: 3 })
      const horizon = yield* space.step
      const [done, waits, failed] = reactor.jobs.map(({ rid }) => rid)
      assert.ok(done && waits && failed)
      yield* request(space, { channel: "bank", opcode: "charge" })
      yield* space.step
      const late = reactor.jobs.at(-1)?.rid ?? ""
      for (const rid of [done, waits]) reactor.complete(rid)
      for (const rid of [failed, late]) reactor.fail(rid, retried)
      yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
      yield* steps(space, 5)
      const asked = yield* Effect.forkChild(space.control.rollback(horizon), { startImmediately: true })
      yield* steps(space, 6)
      const { oid } = yield* Fiber.join(asked)
      const states = yield* Effect.forEach([done, waits, failed, late], (rid) => reqOf(space, rid))
      assert.deepStrictEqual(states.map((found) => (found as unknown as { readonly state: string }).state), ["cnl", "cnl", "cnl", "cnl"])
      const dossier = yield* space.ops.get(oid)
      assert.strictEqual(dossier?.taken?.count, 4)
      yield* Effect.forkChild(space.control.resume(), { startImmediately: true })
      const submitted = reactor.submitted.length
      yield* steps(space, 8)
      assert.strictEqual(reactor.submitted.length, submitted)
      const told = (yield* resultsOf(space)).filter(({ code }) => code === "io/taken-back").map(({ rid }) => rid)
      assert.deepStrictEqual(told, [failed])
    })))

  it.effect("change by no record of an enzyme", () => withReactor(({ reactor, space }) => Effect.gen(function*() {
    yield* request(space, { channel: "bank", opcode: "charge" })
    yield* space.step
    const rid = reactor.jobs[0]?.rid ?? ""
    yield* space.signal({ signal: "/signals/record", payload: rid })
    yield* space.step
    assert.deepStrictEqual(yield* space.get("/data/recorded"), [false, false, false])
    reactor.complete(rid)
    yield* steps(space, 2)
    assert.deepStrictEqual((yield* resultsOf(space)).map(({ state }) => state), ["complete"])
  })))

  it.effect("of a shim report it once", () => withReactor(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* request(space, { channel: "cpu", opcode: "work", times: 2 })
      yield* space.step
      for (const { rid } of reactor.jobs) reactor.complete(rid)
      yield* space.step
      const facts = yield* space.list("/data/mailbox/diag/msgs")
      const topics = yield* Effect.forEach(facts, (name) => space.get(`/data/mailbox/diag/msgs/${name}#/topic`))
      assert.deepStrictEqual(topics, ["tp_async_unsp"])
    })))
})
