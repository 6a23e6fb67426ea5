import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme } from "systole"
import { begun, enzyme, steps } from "../kernel/TestSpace.ts"
import { bring, frameOf, node } from "./Nodes.ts"

const wait = Enzyme.make({
  name: "wait",
  query: "/signals/wait",
  durable: true,
  run: async (tx) => {
    tx.increment("/data/begun")
    await tx.sleep({ beats: 3 })
    tx.increment("/data/ended")
  }
})
const note = enzyme("note", (tx, { payload }) => tx.append("/data/notes", payload))

describe("a restored space whose modules are absent", () => {
  it.effect("is whole: their runs become letters by name, and signals for a later time find them again", () => Effect.gen(function*() {
    const here = yield* node({ modules: [wait, note] })
    const original = yield* here.kernel.space("a")
    yield* original.step
    yield* original.signal({ signal: "/signals/wait", payload: 1 })
    yield* original.signal({ signal: "/signals/note", payload: "now" })
    yield* original.signal({ signal: "/signals/note", payload: "later", at: { ms: 60_000 } })
    yield* original.step
    const there = yield* node()
    const { space } = yield* bring(there, "a", { frames: [yield* frameOf(here, "a")], why: "restore" })
    yield* begun(space, space.control.releaseDetached())
    yield* steps(space, 8)
    assert.deepStrictEqual([yield* space.get("/data/begun"), yield* space.get("/data/ended")], [1, undefined])
    assert.deepStrictEqual(yield* space.get("/data/notes"), ["now"])
    const { letters } = yield* space.dead({ after: undefined, limit: 10 })
    assert.deepStrictEqual(letters.map(({ code, enzyme }) => [code, enzyme]), [["enzyme/gone", "wait"]])
    for (const module of [wait, note]) yield* there.kernel.register(module)
    yield* TestClock.adjust(61_000)
    yield* steps(space, 8)
    assert.deepStrictEqual(yield* space.get("/data/notes"), ["now", "later"])
  }).pipe(Effect.scoped))
})
