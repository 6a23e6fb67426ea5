import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel } from "systole"
import { createHash } from "node:crypto"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import { replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A version of the module, whose text is its greeting. */
const version = (text: string) => {
  const enzyme = Enzyme.make({
    name: "greet",
    query: "/signals/greet",
    durable: true,
    run: async (tx) => {
      tx.get(`/data/names/${text}`)
      await tx.sleep(10)
      return text
    }
  })
  return { enzyme, code: { hash: createHash("sha256").update(text).digest("hex"), text } }
}

/** No body stays in memory. */
const settings = { limits: { ...TestKernel.settings.limits, residentRuns: 0 } }

const layer = TestKernel.layer(settings).pipe(
  Layer.provide(Layer.succeed(ModuleRestore, (_, text = "") => Promise.resolve({ enzymes: [version(text).enzyme], nodes: [] })))
)

describe("a durable run", () => {
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
  }).pipe(Effect.provide(layer)))
})
