import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { MemoryStore, type Space } from "systole"
import { begun, enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"
import { bring, frameOf, type Node, node, reaching, waiting } from "./Nodes.ts"

/** Sends its payload to a space, which records it. */
const modules = [
  enzyme("send", (tx, { payload }) => void tx.signal({ signal: "/signals/take", space: "b", payload })),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload))
]

const send = (space: Space, payload: number) => Effect.andThen(space.signal({ signal: "/signals/send", payload }), space.step)

const taken = (space: Space) => space.get("/data/taken")

/** Runs the turns of the host and some beats of a receiver. */
const receive = (b: Space) => Effect.andThen(turns(), steps(b, 2))

interface Waiting {
  readonly payload: string
  readonly to?: { readonly space: string; readonly from?: string }
}

const queue = (space: Space) =>
  space.examine(({ store }): ReadonlyArray<Waiting> => [...store.queue()].map(({ text }) => JSON.parse(text) as Waiting))

/** Takes a frame with a waiting signal that its receiver gets meanwhile, goes on, and restores the frame. */
const lost = Effect.fnUntraced(function*(here: Node, there: Node, latch: Latch.Latch) {
  const a = yield* here.kernel.space("a")
  const b = yield* there.kernel.space("b")
  yield* steps(a, 8)
  yield* steps(b, 8)
  yield* Latch.close(latch)
  yield* send(a, 1)
  const bytes = yield* frameOf(here, "a")
  yield* Latch.open(latch)
  yield* receive(b)
  assert.deepStrictEqual(yield* taken(b), [1])
  // The beat after the backup is lost, and its id is drawn again.
  yield* send(a, 2)
  yield* receive(b)
  assert.deepStrictEqual(yield* taken(b), [1, 2])
  return { a, b, bytes }
})

describe("N32 restore", () => {
  for (const place of ["the same node", "another node"] as const) {
    it.effect(`a signal that waited at the backup arrives once at a receiver on ${place} that had it, and later ones arrive`, () =>
      Effect.gen(function*() {
        const latch = Latch.makeUnsafe(true)
        const there = yield* node({ modules, persistence: waiting(MemoryStore.layer, "b", latch) })
        const here = place === "another node" ? yield* node({ modules, remote: reaching(["b"], there) }) : there
        const { a, b, bytes } = yield* lost(here, there, latch)
        const born = yield* a.get("/sys/state/born")
        yield* here.kernel.remove("a")
        const { space } = yield* bring(here, "a", { frames: [bytes], why: "restore" })
        yield* space.step
        const from = `a@${String(born)}`
        assert.deepStrictEqual((yield* queue(space)).map(({ payload, to }) => [payload, to?.from]), [["1", from]])
        assert.notStrictEqual(yield* space.get("/sys/state/born"), born)
        assert.deepInclude((yield* space.get("/sys/state/detached")) as object, { why: "restore", from })
        yield* receive(b)
        assert.strictEqual((yield* queue(space)).length, 1, "sent before the release")
        yield* begun(space, space.control.releaseDetached())
        yield* receive(b)
        assert.deepStrictEqual(yield* queue(space), [])
        assert.deepStrictEqual(yield* taken(b), [1, 2])
        yield* send(space, 3)
        yield* receive(b)
        assert.deepStrictEqual(yield* taken(b), [1, 2, 3])
        yield* replays(space)
      }))
  }

  it.effect("a copy never sends what waited in its original, also when a backup of it is restored", () =>
    Effect.gen(function*() {
      const latch = Latch.makeUnsafe(true)
      const here = yield* node({ modules, persistence: waiting(MemoryStore.layer, "b", latch) })
      const { b, bytes } = yield* lost(here, here, latch)
      const { space } = yield* bring(here, "copy", { frames: [bytes] })
      yield* send(space, 3)
      const copied = yield* frameOf(here, "copy")
      yield* begun(space, space.control.releaseDetached())
      yield* receive(b)
      assert.deepStrictEqual(yield* queue(space), [])
      assert.deepStrictEqual(yield* taken(b), [1, 2, 3])
      const again = yield* bring(here, "again", { frames: [copied], why: "restore" })
      yield* again.space.step
      assert.deepInclude((yield* again.space.get("/sys/state/detached")) as object, { why: "copy" })
      yield* begun(again.space, again.space.control.releaseDetached())
      yield* receive(b)
      assert.deepStrictEqual(yield* queue(again.space), [])
      assert.deepStrictEqual(yield* taken(b), [1, 2, 3])
    }))
})
