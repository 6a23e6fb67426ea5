import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Random, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Retry, type Transaction } from "systole"
import * as SeededRandom from "../../../src/stage/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, replays, steps, turns } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"

describe("a run", () => {
  it.effect("may return a value, a promise or an Effect", () =>
    Effect.gen(function*() {
      const on = { query: "/signals/s" }
      const space = yield* TestKernel.space([
        enzyme("effect", (tx) => Effect.sync(() => {
          tx.set("/data/effect", 1)
          return new Date(5)
        }), on),
        enzyme("nothing", () => undefined, on),
        enzyme("promise", async (tx) => {
          await Promise.resolve()
          tx.set("/data/promise", tx.get("/data/x") ?? "none")
          return { a: 1 }
        }, on),
        enzyme("value", () => 7, on),
        enzyme(
          "waiting",
          (tx) => Effect.promise(() => Promise.resolve(3)).pipe(Effect.tap((n) => Effect.sync(() => tx.set("/data/waiting", n)))),
          on
        )
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      const values = (yield* space.receipt(id))?.handlings.map(({ value }) => value)
      assert.deepStrictEqual(values, [new Date(5), {}, { a: 1 }, 7, 3])
      assert.deepStrictEqual(yield* space.list("/data"), ["effect", "promise", "waiting"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("sees the state after the previous beat, and never another run of its beat", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([
        enzyme("a", (tx) => tx.set("/data/x", tx.beat), { query: "/signals/s" }),
        enzyme("b", async (tx) => void seen.push(tx.get("/data/x")), { query: "/signals/s" })
      ])
      for (let i = 0; i < 3; i++) {
        yield* space.signal({ signal: "/signals/s" })
        yield* space.step
      }
      assert.deepStrictEqual(seen, [undefined, 0, 1])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("receives the signal, its target, its payload, and the parameters of its query", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([
        enzyme("params", (_, event) => void seen.push(event), { query: "/shop/:shop/order/:order", bind: ["/data/shop"] })
      ])
      const { id } = yield* space.signal({ signal: "/shop/7/order/9", target: "/data/shop/7", payload: [1] })
      yield* space.step
      assert.deepStrictEqual(seen, [
        { id, signal: "/shop/7/order/9", target: "/data/shop/7", payload: [1], params: { shop: "7", order: "9" }, attempt: 1 }
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("starts after the end of the previous one, in agenda order", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const slow = (name: string) =>
        enzyme(name, async () => {
          log.push(`${name} begins`)
          await Promise.resolve()
          log.push(`${name} ends`)
        }, { query: "/signals/s" })
      const space = yield* TestKernel.space([slow("a"), slow("b")])
      yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.deepStrictEqual(log, ["a begins", "a ends", "b begins", "b ends"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("time and chance in a run", () => {
  it.effect("come from the beat, in transactions and in Effects", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("5 seconds")
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([enzyme("s", (tx) =>
        Effect.gen(function*() {
          const [now, nanos, drawn] = [yield* Clock.currentTimeMillis, yield* Clock.currentTimeNanos, yield* Random.next]
          seen.push([now === tx.now, nanos === BigInt(tx.now) * 1_000_000n, drawn])
          return tx.now
        }))])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, 5000)
      assert.deepStrictEqual(seen, [[true, true, SeededRandom.make("1".padStart(32, "0"), 0)()]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("differ between the runs of a beat, and repeat in another kernel", () =>
    Effect.gen(function*() {
      const draws = Effect.gen(function*() {
        const drawn: Array<number> = []
        const space = yield* TestKernel.space(["a", "b"].map(
          (name) => enzyme(name, (tx) => void drawn.push(tx.random(), tx.random()), { query: "/signals/s" })
        ))
        yield* space.signal({ signal: "/signals/s" })
        yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 2)
        return drawn
      })
      const first = yield* Effect.provide(draws, TestKernel.layer(), { local: true })
      const second = yield* Effect.provide(draws, TestKernel.layer(), { local: true })
      assert.deepStrictEqual(first, second)
      assert.strictEqual(new Set(first).size, 8)
    }))

  it.effect("do not pass: a sleep fails at once, and its message names the alternative", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("s", () => Effect.sleep("1 second"))])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      const error = (yield* space.receipt(id))?.handlings[0]?.error
      assert.strictEqual(error?.code, "transaction/refused")
      assert.include(error?.message, "at: { ms }")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("never go back, even if the host's clock does", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("s", (tx) => tx.now)])
      yield* TestClock.setTime(10_000)
      const first = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      yield* TestClock.setTime(4_000)
      const second = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      const values = yield* Effect.forEach(
        [first, second],
        ({ id }) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0]?.value)
      )
      assert.deepStrictEqual(values, [10_000, 10_000])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a run beyond its time limit", () => {
  it.effect("ends, counts as a failed attempt, and can no longer use its transaction", () =>
    Effect.gen(function*() {
      let kept: Transaction | undefined
      let release: () => void = () => undefined
      const space = yield* TestKernel.space([enzyme("slow", (tx, { attempt }) => {
        if (attempt > 1) return "done"
        kept = tx
        tx.set("/data/slow", 1)
        return new Promise<void>((resolve) => { release = resolve })
      }, { limitMs: 250 })])
      const { id } = yield* space.signal({ signal: "/signals/slow" })
      const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
      yield* turns()
      yield* TestClock.adjust("249 millis")
      assert.isUndefined(beat.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(beat)
      assert.throws(() => present(kept).get("/data/slow"), /250 ms/)
      assert.throws(() => present(kept).set("/data/slow", 2))
      release()
      yield* space.step
      assert.deepStrictEqual(yield* ended(space, id), ["slow ok @1 #2"])
      assert.strictEqual(yield* space.get("/data/slow"), undefined)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), ["enzyme=slow rc=-1 signal=/signals/slow target=-"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is given up after two attempts, because its space waits meanwhile", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("stuck", () => new Promise(() => undefined))])
      const { id } = yield* space.signal({ signal: "/signals/stuck" })
      for (const wait of [1000, 1000]) {
        const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
        yield* turns()
        yield* TestClock.adjust(wait)
        yield* Fiber.join(beat)
      }
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual([receipt?.status, receipt?.handlings[0]?.error?.code], ["dead", "run/timeout"])
      assert.include((yield* TestKernel.diagnostics(space))[0]?.["note"], "after 2 attempts")
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is not given up at its first time-out, though other attempts failed before", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("slow", (_, { attempt }) => {
        if (attempt === 1 || attempt === 3) throw new Retry({ reason: "not yet" })
        return attempt < 5 ? new Promise(() => undefined) : undefined
      }, { retry: { attempts: 9 } })])
      const { id } = yield* space.signal({ signal: "/signals/slow" })
      const statuses: Array<string | undefined> = []
      for (let i = 0; i < 8; i++) {
        const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
        yield* turns()
        yield* TestClock.adjust(1000)
        yield* Fiber.join(beat)
        statuses.push((yield* space.receipt(id))?.status)
      }
      assert.deepStrictEqual(statuses, [...Array<string>(7).fill("pending"), "dead"])
      assert.deepStrictEqual(yield* ended(space, id), ["slow dead @7 #4"])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is interrupted if it is an Effect", () =>
    Effect.gen(function*() {
      let interrupted = false
      const space = yield* TestKernel.space([enzyme("slow", (_, { attempt }) =>
        attempt > 1 ? undefined : Effect.never.pipe(Effect.onInterrupt(() => Effect.sync(() => { interrupted = true }))))])
      yield* space.signal({ signal: "/signals/slow" })
      const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
      yield* turns()
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(beat)
      yield* turns()
      assert.isTrue(interrupted)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("delays no durable answer to signals that arrive meanwhile", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("slow", () => new Promise(() => undefined), { retry: { attempts: 1 } }),
        enzyme("quick", () => 1)
      ])
      yield* space.signal({ signal: "/signals/slow" })
      const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
      yield* turns()
      const { id } = yield* space.signal({ signal: "/signals/quick" })
      assert.isUndefined(beat.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(beat)
      yield* space.step
      assert.deepStrictEqual(yield* ended(space, id), ["quick ok @1 #1"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("an error thrown by a run", () => {
  class Own extends Schema.TaggedError<Own>()("Own", {}) {
    readonly code = "own/code"
  }
  const thrown: ReadonlyArray<readonly [what: string, error: unknown, tag: string, code: string]> = [
    ["an author's tagged error", new Own(), "Own", "own/code"],
    ["one of the language", Object.assign(new TypeError("x"), { code: "ERR_INVALID_URL" }), "TypeError", "run/failed"],
    ["one of the host", new DOMException("x", "InvalidCharacterError"), "Defect", "run/failed"],
    ["one with a name of its own", Object.assign(new Error("x"), { name: "Odd", code: "odd" }), "Defect", "run/failed"],
    ["one whose tag is no name", { _tag: "not a name", code: "not a code" }, "Defect", "run/failed"],
    ["nothing", undefined, "Defect", "run/failed"]
  ]

  for (const [what, error, tag, code] of thrown) {
    it.effect(`has a tag and a code that do not depend on the host: ${what}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([enzyme("s", () => {
          throw error
        })])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        yield* space.step
        const made = (yield* space.receipt(id))?.handlings[0]?.error
        assert.deepStrictEqual([made?.tag, made?.code], [tag, code])
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  for (const code of ["run/timeout", "backlog/full", "node/gated"]) {
    it.effect(`is a dead letter at once in a replay too, even with a code of the runtime: ${code}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([enzyme("s", () => {
          throw { _tag: "Own", code }
        }, { retry: { attempts: 3 } })])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 3)
        assert.deepStrictEqual(yield* ended(space, id), ["s dead @0 #1"])
        yield* replays(space)
      }).pipe(Effect.provide(TestKernel.layer())))
  }
})

describe("a payload schema", () => {
  const Order = Schema.Struct({ id: Schema.NumberFromString, at: Schema.optionalKey(Schema.Date) })

  it.effect("decodes the payload for the run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("order", (_, { payload }) => (payload as { readonly id: number }).id + 1, { payload: Order })
      ])
      const { id } = yield* space.signal({ signal: "/signals/order", payload: { id: "41" } })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, 42)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reports each mistake of a payload, not only the first", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("order", () => 1, {
          payload: Schema.Struct({ item: Schema.String, count: Schema.Int, to: Schema.Struct({ city: Schema.String }) })
        })
      ])
      const { id } = yield* space.signal({ signal: "/signals/order", payload: { item: 3, count: 0.5, to: {} } })
      yield* space.step
      const message = (yield* space.receipt(id))?.handlings[0]?.error?.message ?? ""
      for (const field of ["item", "count", "city"]) assert.include(message, field)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("buries an invalid payload without a run, with the reasons", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("order", () => void runs++, { payload: Order })])
      const { id } = yield* space.signal({ signal: "/signals/order", payload: { id: [] } })
      yield* space.step
      const error = (yield* space.receipt(id))?.handlings[0]?.error
      assert.strictEqual(error?.code, "payload/invalid")
      assert.include(error?.message, "id")
      assert.strictEqual(runs, 0)
    }).pipe(Effect.provide(TestKernel.layer())))
})
