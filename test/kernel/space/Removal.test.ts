import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Space } from "systole"
import { enzyme, steps, turns } from "../TestSpace.ts"
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
