import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { Kernel, replay, type Space, verify, why } from "systole"
import type { HistorySource } from "../../../src/kernel/beat/HistorySource.ts"
import * as SqliteFolder from "../../persistence/SqliteFolder.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps, turns } from "../TestSpace.ts"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../RestartableKernel.ts"

const enzymes = [
  enzyme("send", (tx, { payload }) => tx.signal({ signal: "/signals/take", space: "b", payload })),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload))
]

const send = (a: Space, payload: number) =>
  Effect.gen(function*() {
    yield* a.signal({ signal: "/signals/send", payload })
    yield* a.step
    yield* turns()
  })

describe("a signal to another space", () => {
  it.effect("becomes a dead letter when its receiver is removed, and arrives when the receiver is created again", () =>
    Effect.gen(function*() {
      const kernel = yield* (yield* RestartableKernel.make(enzymes)).boot({ create: "explicit" })
      const [a, b] = yield* Effect.all([kernel.space("a", { create: true }), kernel.space("b", { create: true })])
      yield* send(a, 1)
      yield* b.step
      assert.deepStrictEqual(yield* b.get("/data/taken"), [1])
      yield* kernel.remove("b")
      assert.strictEqual((yield* Effect.flip(kernel.space("b"))).code, "space/unknown")
      yield* send(a, 2)
      yield* steps(a, 2)
      assert.strictEqual((yield* a.dead({ limit: 10 })).letters.length, 1)
      const again = yield* kernel.space("b", { create: true })
      yield* send(a, 3)
      yield* steps(again, 1)
      assert.deepStrictEqual(yield* again.get("/data/taken"), [3])
    }))
})

describe("a space that was removed and created again", () => {
  it.effect("sends signals that its receiver tells from those of the space before", () =>
    Effect.gen(function*() {
      const kernel = yield* (yield* RestartableKernel.make(enzymes)).boot({ create: "explicit", boot: true })
      const b = yield* kernel.space("b", { create: true })
      for (const incarnation of [1, 2, 3]) {
        const a = yield* kernel.space("a", { create: true })
        yield* steps(a, 6)
        yield* send(a, 7)
        assert.strictEqual(yield* a.head, 6, `incarnation ${incarnation} counts as the first one`)
        yield* kernel.remove("a")
      }
      yield* steps(b, 6)
      assert.deepStrictEqual(yield* b.get("/data/taken"), [7, 7, 7])
    }))

  it.effect("makes requests to the world with other idempotency keys", () =>
    Effect.gen(function*() {
      const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } })
      const pay = enzyme("pay", (tx) => tx.io.request({ channel: "bank", opcode: "pay", signal: "/signals/pay" }))
      const machine = yield* RestartableKernel.make([pay], reactor.layer)
      const kernel = yield* machine.boot({ create: "explicit", boot: true })
      const keys = new Set<string>()
      while (keys.size < 2) {
        const a = yield* kernel.space("a", { create: true })
        yield* steps(a, 6)
        yield* a.signal({ signal: "/signals/pay" })
        yield* steps(a, 1)
        yield* turns()
        assert.lengthOf(reactor.jobs, 1)
        const { key } = reactor.jobs[0]!
        assert.isFalse(keys.has(key), "a key comes again")
        keys.add(key)
        yield* kernel.remove("a")
        yield* turns()
      }
    }))
})

describe("a look at the history of a space that is removed meanwhile", () => {
  const looks: Readonly<Record<string, (history: HistorySource) => unknown>> = {
    why: (history) => why(history, "/data/taken"),
    verify: (history) => verify(history),
    replay: (history) => replay(history, 0, Infinity)
  }
  for (const [name, look] of Object.entries(looks)) {
    it.effect(`tells of the removal, and of no failure of its store: ${name}`, () => Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* TestKernel.space(enzymes)
      for (const payload of [1, 2]) {
        yield* space.signal({ signal: "/signals/take", payload })
        yield* space.step
      }
      const [begun, removed] = [yield* Latch.make(), yield* Latch.make()]
      const looking = yield* Effect.forkChild(Effect.flip(space.examine(async (history) => {
        Latch.openUnsafe(begun)
        await Effect.runPromise(Latch.await(removed))
        return look(history)
      })))
      yield* Latch.await(begun)
      yield* kernel.remove("test")
      yield* Latch.open(removed)
      const error = yield* Fiber.join(looking)
      assert.deepInclude(error, { code: "space/stopped", isRemoved: true })
      assert.include(error.message, "it is being removed")
    }).pipe(Effect.provide(TestKernel.layer({}, SqliteFolder.layer))))
  }
})

describe("an upload to a space that is removed meanwhile", () => {
  it.effect("tells of the removal, and of no failure of its store", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const space = yield* TestKernel.space(enzymes)
    const { store, writer } = yield* space.content
    writer.write(new Uint8Array(10))
    yield* kernel.remove("test")
    assert.deepInclude(yield* Effect.flip(store("0".repeat(64))), { code: "space/stopped", isRemoved: true })
  }).pipe(Effect.provide(TestKernel.layer({}, SqliteFolder.layer))))
})

describe("a space whose removal failed", () => {
  it.effect("opens by itself for its next work", () =>
    Effect.gen(function*() {
      const machine = yield* RestartableKernel.make(enzymes)
      const kernel = yield* machine.boot({ create: "explicit", pace: "demand" })
      const a = yield* kernel.space("a", { create: true })
      yield* a.signal({ signal: "/signals/take", payload: 1, at: { ms: 60_000 } })
      machine.breakRemoval("a", true)
      assert.strictEqual((yield* Effect.flip(kernel.remove("a"))).code, "store/unavailable")
      machine.breakRemoval("a", false)
      yield* turns()
      yield* TestClock.adjust(60_000)
      yield* turns()
      assert.deepStrictEqual(yield* (yield* kernel.space("a")).get("/data/taken"), [1])
      assert.lengthOf(machine.openings(), 2)
    }))
})
