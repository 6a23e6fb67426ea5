import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { Channel, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Makes a request by its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  return tx.io.request({ channel: "web", opcode: "fetch", signal: "/signals/ask/done", ...payload as object })
}, { query: "/signals/ask", match: "prefix" })

/** Awaits a request, and keeps the wait that its failure has. */
const awaits = enzyme("awaits", async (tx: Transaction) => {
  try {
    await tx.io.request({ channel: "web", opcode: "fetch", attempts: 1 })
  } catch (error) {
    const { code, retryAfterMs } = error as { readonly code: string; readonly retryAfterMs?: number }
    tx.set("/data/failure", { code, retryAfterMs })
  }
}, { query: "/signals/awaits", durable: true })

interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

const inWorld = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor({ web: { opcodes: { fetch: { repeatable: true } } } })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, awaits])
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const busy = (retryAfterMs: unknown) =>
  Channel.fail("http/status", "it answered with 429", { retryable: true, retryAfterMs: retryAfterMs as number })

/** Makes a request, whose first attempt fails and asks for a wait. */
const failedOnce = Effect.fnUntraced(function*({ reactor, space }: World, retryAfterMs: unknown, payload: object = {}) {
  yield* space.signal({ signal: "/signals/ask", payload })
  yield* space.step
  const rid = reactor.jobs[0]?.rid ?? ""
  reactor.fail(rid, busy(retryAfterMs))
  yield* space.step
  return rid
})

const results = (space: Space) => Effect.map(space.get("/data/results"), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

describe("A failure with a wait", () => {
  it.effect("delays the next attempt by that wait, however many beats pass", () => inWorld((world) => Effect.gen(function*() {
    const { reactor, space } = world
    yield* failedOnce(world, 30_000)
    yield* steps(space, 5)
    yield* TestClock.adjust("29 seconds")
    yield* steps(space, 2)
    assert.lengthOf(reactor.submitted, 1)
    yield* TestClock.adjust("1 second")
    yield* space.step
    assert.deepStrictEqual(reactor.submitted.map(({ attempt }) => attempt), [1, 2])
    reactor.complete(reactor.jobs[0]?.rid ?? "")
    yield* steps(space, 2)
    const [result] = yield* results(space)
    assert.strictEqual(result?.state, "complete")
    assert.notProperty(result, "retry_after_ms")
  })))

  it.effect("delays no attempt beyond the deadline, and the request ends there", () => inWorld((world) => Effect.gen(function*() {
    const { reactor, space } = world
    const rid = yield* failedOnce(world, 3_600_000, { timeoutMs: 60_000 })
    const { retry_ms } = (yield* space.get(`/rt/ops/OPS:io/io_req/${rid}`)) as unknown as { readonly retry_ms: number }
    assert.strictEqual(retry_ms, 60_000)
    yield* TestClock.adjust("1 minute")
    yield* steps(space, 2)
    assert.deepInclude((yield* results(space))[0], { state: "fail", code: "io/timeout" })
    assert.lengthOf(reactor.submitted, 1)
  })))

  it.effect("is part of the result, if no attempt is left", () => inWorld((world) => Effect.gen(function*() {
    const { reactor, space } = world
    yield* failedOnce(world, 30_000, { attempts: 1 })
    yield* space.step
    assert.deepInclude((yield* results(space))[0], { state: "fail", code: "http/status", retry_after_ms: 30_000 })
    yield* space.signal({ signal: "/signals/awaits" })
    yield* space.step
    reactor.fail(reactor.jobs[0]?.rid ?? "", busy(7_000))
    yield* steps(space, 2)
    assert.deepStrictEqual(yield* space.get("/data/failure"), { code: "http/status", retryAfterMs: 7_000 })
  })))

  it.effect("delays by beats alone, if the wait is none", () => inWorld((world) => Effect.gen(function*() {
    for (const wait of [-1, 1.5, NaN, Infinity, "30000", 2 ** 50]) {
      yield* failedOnce(world, wait)
      yield* world.space.step
      assert.strictEqual(world.reactor.jobs[0]?.attempt, 2, String(wait))
      world.reactor.complete(world.reactor.jobs[0]?.rid ?? "")
      yield* steps(world.space, 2)
    }
  })))
})
