import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Enzyme } from "systole"
import * as DevWatch from "../../src/main/DevWatch.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Calls that a run must not make, by name. */
const tricks: Readonly<Record<string, () => unknown>> = {
  "Date.now()": () => Date.now(),
  "new Date()": () => new Date(),
  "performance.now()": () => performance.now(),
  "Math.random()": () => Math.random(),
  "Math.sin()": () => Math.sin(1),
  "crypto.randomUUID()": () => crypto.randomUUID(),
  "setTimeout()": () => setTimeout(() => {}, 1),
  "fetch()": () => fetch("http://127.0.0.1:1")
}

describe("DevWatch", () => {
  it.effect("refuses nondeterministic calls inside runs only, and names the replacement", () =>
    Effect.gen(function*() {
      const trick = Enzyme.make({ name: "trick", query: "/signals/trick", run: (_, event) => void tricks[String(event.payload)]!() })
      const space = yield* TestKernel.space([trick])
      for (const name of Object.keys(tricks)) {
        const { id } = yield* space.signal({ signal: "/signals/trick", payload: name })
        yield* space.step
        const error = (yield* space.receipt(id))?.handlings[0]?.error
        assert.strictEqual(error?.code, "run/nondeterministic", name)
        assert.include(error?.message, name)
      }
      assert.isNumber(Date.now())
      assert.instanceOf(new Date(), Date)
      assert.isNumber(Math.sin(Math.random()))
      clearTimeout(setTimeout(() => {}, 1))
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(DevWatch.layer)))))

  it.effect("allows the functions of the transaction, and dates from a given time", () =>
    Effect.gen(function*() {
      const fine = Enzyme.make({ name: "fine", query: "/signals/fine", run: (tx) => tx.set(
        "/data/fine",
        { at: new Date(tx.now), chance: tx.random(), id: tx.id(), root: Math.sqrt(2) }
      ) })
      const space = yield* TestKernel.space([fine])
      const { id } = yield* space.signal({ signal: "/signals/fine" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(DevWatch.layer)))))
})
