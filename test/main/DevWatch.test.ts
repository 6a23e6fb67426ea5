import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Enzyme } from "systole"
import * as DevWatch from "../../src/main/composition/DevWatch.ts"
import { steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Computes a sine, before or after an await. */
const trick = Enzyme.make({
  name: "trick",
  query: "/signals/trick",
  durable: true,
  run: async (tx, { payload }) => {
    if (payload === "later") await tx.sleep(0)
    return Math.sin(1)
  }
})

const outcomes = Effect.gen(function*() {
  const space = yield* TestKernel.space([trick])
  return yield* Effect.forEach(["at once", "later"], (payload) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/trick", payload })
    yield* steps(space, 2)
    const [handling] = (yield* space.receipt(id))?.handlings ?? []
    return handling?.error?.code ?? handling?.outcome
  }))
})

describe("A development host", () => {
  it.effect("refuses functions of Math that differ between engines, in runs only", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcomes, ["run/nondeterministic", "run/nondeterministic"])
      assert.isNumber(Math.sin(1))
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(DevWatch.layer())))))

  it.effect("alone refuses them", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcomes, ["ok", "ok"])
    }).pipe(Effect.provide(TestKernel.layer())))
})
