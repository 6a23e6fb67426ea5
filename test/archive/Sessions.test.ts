import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Sessions } from "../../src/archive/Sessions.ts"

interface Session {
  readonly name: string
  isSpare: boolean
}

/** Sessions of a host with room for two, and the names of the resources that are released. */
const sessions = Effect.gen(function*() {
  const released: Array<string> = []
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const all = new Sessions<Session>({ kind: "export", fork, limit: () => 2, isSpare: ({ isSpare }) => isSpare })
  const begin = (name: string, isSpare = false) => all.begin(name, Effect.as(
    Effect.addFinalizer(() => Effect.sync(() => released.push(name))),
    { name, isSpare }
  ))
  return { all, begin, released }
})

describe("the sessions of a host", () => {
  it.effect("are refused beyond the limit, unless one is spare: then the one that rests longest ends", () => Effect.gen(function*() {
    const { all, begin, released } = yield* sessions
    const a = yield* begin("a")
    const b = yield* begin("b")
    const full = yield* Effect.flip(begin("c"))
    assert.strictEqual(full.code, "archive/full")
    assert.include(full.message, "2 are in progress")
    a.isSpare = b.isSpare = true
    all.rest("a", a)
    yield* begin("c")
    assert.deepStrictEqual(released, ["b"])
    assert.deepStrictEqual(["a", "b", "c"].map((name) => all.of(name)?.name), ["a", undefined, "c"])
  }))

  it.effect("end by themselves 10 minutes after their newest request, and not within one", () => Effect.gen(function*() {
    const { all, begin, released } = yield* sessions
    const a = yield* begin("a")
    yield* TestClock.adjust("9 minutes")
    all.rest("a", a)
    yield* TestClock.adjust("9 minutes")
    all.use("a", a)
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(released, [])
    all.rest("a", a)
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual([released, all.of("a")], [["a"], undefined])
  }))

  it.effect("of one space that begin at once leave one of them, and its room alone", () => Effect.gen(function*() {
    const { all, begin, released } = yield* sessions
    const gate = yield* Deferred.make<void>()
    const slow = (name: string) => all.begin("a", Effect.as(
      Effect.addFinalizer(() => Effect.sync(() => released.push(name))),
      { name, isSpare: false }
    ).pipe(Effect.tap(() => Deferred.await(gate))))
    const both = yield* Effect.forkChild(Effect.all([slow("first"), slow("second")], { concurrency: 2 }))
    yield* Effect.yieldNow
    yield* Deferred.succeed(gate, undefined)
    const [first, second] = yield* Fiber.join(both)
    assert.deepStrictEqual([released, all.of("a")], [["first"], second])
    yield* all.end("a", first)
    assert.strictEqual(all.of("a"), second)
    yield* begin("b")
    yield* all.end("a", second)
    yield* begin("c")
    assert.deepStrictEqual(released, ["first", "second"])
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(released, ["first", "second", "b", "c"])
  }))

  it.effect("take no room when they fail to begin", () => Effect.gen(function*() {
    const { all, begin } = yield* sessions
    for (let n = 0; n < 3; n++) assert.strictEqual(yield* Effect.flip(all.begin("a", Effect.fail("no"))), "no")
    yield* begin("a")
    yield* begin("b")
  }))
})
