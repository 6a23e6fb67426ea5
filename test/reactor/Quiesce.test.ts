import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Channel, type IoResult, type Kernel, Reactor, type ReactorRecord, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { enzyme, replays, steps, through, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Makes as many requests as its payload says, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  const { times = 1, ...options } = payload as { readonly times?: number }
  for (let n = 0; n < times; n++) tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/ask/done", ...options })
}, { query: "/signals/ask", match: "prefix" })

const results = (space: Space) => Effect.map(space.get("/data/results"), (found) =>
  ((found ?? []) as unknown as ReadonlyArray<IoResult>).map(({ attempt, code, state }) => [state, code, attempt]))

const records = Effect.fnUntraced(function*(space: Space) {
  const rids = yield* space.list("/rt/ops/OPS:io/io_req")
  return yield* Effect.forEach(rids, (rid) => Effect.map(space.get(`/rt/ops/OPS:io/io_req/${rid}`), (request) => {
    const { attempt, state } = request as unknown as IoResult
    return [state, attempt]
  }))
})

const topics = Effect.fnUntraced(function*(space: Space) {
  const facts = yield* space.list("/data/mailbox/diag/msgs")
  return yield* Effect.forEach(facts, (name) => space.get(`/data/mailbox/diag/msgs/${name}#/topic`))
})

const inSpace = <A, E>(reactor: Layer.Layer<Reactor>, test: (space: Space) => Effect.Effect<A, E, Kernel>) =>
  Effect.gen(function*() {
    const space = yield* TestKernel.space([ask])
    yield* test(space)
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor }) as Layer.Layer<Kernel>))

/** A channel with room for one job, whose jobs end when the test says so. */
const single = () => {
  const begun: Array<Channel.Job> = []
  const ends: Array<() => void> = []
  const channel: Channel.Channel = {
    id: "bank", provider: "single", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { charge: { repeatable: true } },
    execute: (job) => {
      begun.push(job)
      return new Promise((resolve) => ends.push(() => resolve({})))
    }
  }
  return { begun, reactor: Reactor.native([channel]), end: () => ends.shift()?.() }
}

const scripted = () => new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })

describe("A pause", () => {
  it.effect("lets no attempt begin while it waits: one without a job begins after the resume", () => {
    const { begun, end, reactor } = single()
    return inSpace(reactor, (space) => Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/ask", payload: { times: 2 } })
      yield* space.step
      yield* turns()
      yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
      yield* steps(space, 3)
      end()
      yield* turns()
      assert.deepStrictEqual(yield* records(space), [["pending", 1], ["pending_retry", 0]])
      yield* steps(space, 3)
      assert.deepStrictEqual([(yield* space.control.state).state, begun.length], ["paused", 1])
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      yield* turns()
      assert.deepStrictEqual(begun.map(({ attempt }) => attempt), [1, 1])
      end()
      yield* turns()
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* results(space), [["complete", undefined, 1], ["complete", undefined, 1]])
    }))
  })

  it.effect("holds the requests that are made in a paused space", () => {
    const reactor = scripted()
    return inSpace(reactor.layer, (space) => Effect.gen(function*() {
      yield* through(space, space.control.pause())
      yield* space.signal({ signal: "/signals/ask", qos: "control", payload: { timeoutMs: 1000 } })
      yield* space.signal({ signal: "/signals/ask", qos: "control", payload: { } })
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* records(space), [["pending_retry", 0], ["pending_retry", 0]])
      yield* TestClock.adjust(1000)
      yield* through(space, space.control.resume())
      yield* steps(space, 3)
      assert.lengthOf(reactor.submitted, 1)
      assert.deepStrictEqual(yield* results(space), [["fail", "io/timeout", 0]])
      assert.deepStrictEqual(yield* topics(space), ["op/tmo"])
    }))
  })

  it.effect("that does not wait any longer reports the topic of each request in progress", () => {
    const reactor = scripted()
    return inSpace(reactor.layer, (space) => Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/ask", payload: {} })
      yield* space.signal({ signal: "/signals/ask", payload: { topic: "bank/late" } })
      yield* steps(space, 2)
      yield* through(space, space.control.pause())
      assert.deepStrictEqual(yield* topics(space), ["persist.async.tmo", "bank/late", "control/failed"])
    }))
  })
})

/** The states of the reactor in the dossiers of a verb, beat by beat. */
const watched = Effect.fnUntraced(function*(space: Space, ask: Effect.Effect<{ readonly oid: string }, unknown>) {
  const fiber = yield* Effect.forkChild(Effect.orDie(ask), { startImmediately: true })
  const found: Array<unknown> = []
  for (let beat = 0; beat < 12; beat++) {
    yield* space.step
    const { oid } = yield* Fiber.join(fiber)
    const state = yield* space.get(`/rt/ops/${oid}/io_reactor`)
    if (state !== undefined && JSON.stringify(state) !== JSON.stringify(found.at(-1))) found.push(state)
  }
  return found.map((state) => {
    const { deadline_beats, draining, paused, shutting_down } = state as ReactorRecord
    return [draining, paused, shutting_down, deadline_beats]
  })
})

describe("The dossier of a lifecycle operation", () => {
  it.effect("has the state of the reactor, from the beat in which it drains on", () => {
    const reactor = scripted()
    return inSpace(reactor.layer, (space) => Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/ask", payload: {} })
      yield* space.step
      assert.deepStrictEqual(yield* watched(space, space.control.pause()), [[true, false, false, 2], [false, false, false, 2]])
      assert.deepStrictEqual(yield* watched(space, space.control.pause()), [[true, false, false, 2], [false, true, false, 2]])
      assert.deepStrictEqual(yield* watched(space, space.control.rollback(0)), [[true, true, false, 2], [false, true, false, 2]])
      assert.deepStrictEqual(yield* watched(space, space.control.resume()), [])
      assert.deepStrictEqual(yield* watched(space, space.control.shutdown()), [[true, false, true, 2], [false, false, true, 2]])
    }))
  })
})
