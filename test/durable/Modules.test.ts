import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel } from "systole"
import { createHash } from "node:crypto"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import { begun, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A version of the module. Its text is its greeting, and names the cells that it may write. */
const version = (text: string) => {
  const enzyme = Enzyme.make({
    name: "greet",
    query: "/signals/greet",
    durable: true,
    writes: [`/data/${text}/*`],
    run: async (tx, { payload }) => {
      tx.get(`/data/names/${text}`)
      await tx.sleep(10)
      if (typeof payload === "string") tx.set(payload, text)
      return text
    }
  })
  return { enzyme, code: { hash: createHash("sha256").update(text).digest("hex"), text } }
}

/** A kernel that keeps so many bodies in memory. */
const keeping = (residentRuns: number) =>
  TestKernel.layer({ limits: { ...TestKernel.settings.limits, residentRuns } }).pipe(
    Layer.provide(Layer.succeed(ModuleRestore, (_, text = "") => Promise.resolve({ enzymes: [version(text).enzyme], nodes: [] })))
  )

/** Charges in its first segment, and is told how often in the end. Its second version is a plain enzyme. */
const charging = (durable: boolean) => Enzyme.make({
  name: "charge",
  query: "/signals/charge",
  durable,
  run: async (tx) => {
    tx.increment("/data/charges")
    if (durable) await tx.sleep(10)
    return "charged"
  }
})

describe("a durable run", () => {
  for (const residentRuns of [10, 0]) {
    it.effect(`begins nothing again if its enzyme is plain by then, with ${residentRuns} bodies in memory`, () => Effect.gen(function*() {
      const kernel = yield* Kernel
      const [before, today] = [charging(true), charging(false)]
      yield* kernel.register(before)
      const space = yield* kernel.space("test")
      const { id } = yield* space.signal({ signal: "/signals/charge" })
      yield* space.step
      yield* kernel.unregister(before)
      yield* kernel.register(today)
      yield* TestClock.adjust(10)
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/charges"), 1)
      const { error, value } = (yield* space.receipt(id))?.handlings[0] ?? {}
      assert.deepStrictEqual([value, error?.code], residentRuns > 0 ? ["charged", undefined] : [{}, "run/diverged"])
      const { runs: [run] } = yield* space.runs.list({ limit: 1, all: true })
      assert.strictEqual(run?.state, residentRuns > 0 ? "over" : "dead")
      if (residentRuns > 0) return
      yield* begun(space, space.runs.retry(run?.oid ?? "", { anew: true }))
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "charged")
      assert.strictEqual((yield* space.runs.list({ limit: 1, all: true })).runs[0]?.state, "over")
      assert.deepStrictEqual(yield* space.list("/sys/index/run"), [])
    }).pipe(Effect.provide(keeping(residentRuns))))
  }

  it.effect("goes on with its module although the present enzyme of its name is not durable", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const hello = version("hello")
    yield* kernel.register(hello.enzyme, hello.code)
    const space = yield* kernel.space("test")
    const { id } = yield* space.signal({ signal: "/signals/greet" })
    yield* space.step
    yield* kernel.unregister(hello.enzyme)
    const plain = Enzyme.make({ name: "greet", query: "/signals/greet", run: () => "plain" })
    yield* kernel.register(plain, { hash: createHash("sha256").update("plain").digest("hex"), text: "plain" })
    yield* TestClock.adjust(10)
    yield* steps(space, 2)
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "hello")
    yield* replays(space)
  }).pipe(Effect.provide(keeping(0))))

  it.effect("goes on with the module with which it began, while new runs take the present one", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const [hello, hi] = [version("hello"), version("hi")]
    yield* kernel.register(hello.enzyme, hello.code)
    const space = yield* kernel.space("test")
    const first = yield* space.signal({ signal: "/signals/greet" })
    yield* space.step
    yield* kernel.unregister(hello.enzyme)
    yield* kernel.register(hi.enzyme, hi.code)
    const second = yield* space.signal({ signal: "/signals/greet" })
    yield* space.step
    yield* TestClock.adjust(10)
    yield* space.step
    const values = []
    for (const { id } of [first, second]) values.push((yield* space.receipt(id))?.handlings[0]?.value)
    assert.deepStrictEqual(values, ["hello", "hi"])
    yield* replays(space)
  }).pipe(Effect.provide(keeping(0))))

  for (const [where, residentRuns] of [["in memory", 10], ["remade from its log", 0]] as const) {
    it.effect(`writes where the module with which it began may write, ${where}`, () => Effect.gen(function*() {
      const kernel = yield* Kernel
      const [hello, hi] = [version("hello"), version("hi")]
      yield* kernel.register(hello.enzyme, hello.code)
      const space = yield* kernel.space("test")
      const ids = []
      for (const payload of ["/data/hello/a", "/data/hi/a"]) ids.push((yield* space.signal({ signal: "/signals/greet", payload })).id)
      yield* steps(space, 2)
      yield* kernel.unregister(hello.enzyme)
      yield* kernel.register(hi.enzyme, hi.code)
      yield* TestClock.adjust(10)
      yield* steps(space, 2)
      const codes = []
      for (const id of ids) codes.push((yield* space.receipt(id))?.handlings[0]?.error?.code)
      assert.deepStrictEqual(codes, [undefined, "envelope/outside"])
      assert.deepStrictEqual([yield* space.get("/data/hello/a"), yield* space.get("/data/hi/a")], ["hello", undefined])
      yield* replays(space)
    }).pipe(Effect.provide(keeping(residentRuns))))
  }
})
