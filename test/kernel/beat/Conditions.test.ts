import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { createHash } from "node:crypto"
import { Enzyme, Kernel, replay, type Space } from "systole"
import * as Document from "../../../src/cell/Document.ts"
import * as TestKernel from "../../support/TestKernel.ts"

const tag = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

/** Submits writes to one beat. Returns the beats of those that were made, and the codes of the refusals. */
const written = (space: Space, ...writes: ReadonlyArray<Effect.Effect<number, { readonly code: string }>>) =>
  Effect.gen(function*() {
    const fibers = yield* Effect.forEach(writes, (write) =>
      Effect.forkChild(Effect.match(write, { onFailure: ({ code }) => code, onSuccess: (beat) => beat }), { startImmediately: true }))
    yield* space.step
    return yield* Effect.forEach(fibers, Fiber.join)
  })

describe("A conditional write", () => {
  it.effect("is executed if the beat finds the value that its caller read, and replays", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("shop", { create: true })
      const set = (value: unknown, condition: NonNullable<Parameters<Space["set"]>[2]>["condition"], address = "/data/a") =>
        space.set(address, value, { condition })
      // Of several writers in one beat, each sees the writes before it.
      assert.deepStrictEqual(
        yield* written(space, set(1, "present"), set({ b: 2, a: 1 }, "absent"), set(3, "absent"), set(undefined, [tag("7")])),
        ["cell/changed", 0, "cell/changed", "cell/changed"]
      )
      const first = tag(`{"a":1,"b":2}`)
      assert.deepStrictEqual(
        yield* written(space, set(5, [tag("x"), tag("2")], "/data/a#/b"), set(6, [first]), set(6, [tag(`{"a":1,"b":5}`)]), set(7, [first])),
        [1, "cell/changed", 1, "cell/changed"]
      )
      assert.deepStrictEqual(yield* written(space, set(undefined, "present"), set(undefined, "present")), [2, "cell/changed"])
      assert.isUndefined(yield* space.get("/data/a"))
      const head = yield* space.head
      for (let from = 0; from <= head; from++) {
        const { difference } = yield* space.examine((archive) => replay(archive, from, head))
        assert.isUndefined(difference, `from ${from}: ${JSON.stringify(difference)}`)
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("follows links, as a read does, and tells rich values apart", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("shop", { create: true })
      yield* written(space, space.set("/data/end", { at: new Date(5) }), space.set("/data/link", { $link: "/data/end" }))
      const read = yield* space.get("/data/link")
      assert.deepStrictEqual(read, { at: new Date(5) })
      assert.deepStrictEqual(
        yield* written(
          space,
          space.set("/data/link", 1, { condition: [tag(`{"at":"1970-01-01T00:00:00.005Z"}`)] }),
          space.set("/data/link", 2, { condition: [tag(Document.encode(read!).text)] })
        ),
        ["cell/changed", 1]
      )
      assert.strictEqual(yield* space.get("/data/end"), 2)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is decided before the runs of its beat, whose writes come after it", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(Enzyme.make({ name: "add", query: "/signals/add", run: (tx) => tx.increment("/data/a") }))
      const space = yield* kernel.space("shop", { create: true })
      yield* written(space, space.set("/data/a", 1))
      const added = yield* Effect.forkChild(space.handled({ signal: "/signals/add" }), { startImmediately: true })
      assert.deepStrictEqual(yield* written(space, space.set("/data/a", 10, { condition: [tag("1")] })), [1])
      yield* Fiber.join(added)
      assert.strictEqual(yield* space.get("/data/a"), 11)
      assert.deepStrictEqual(yield* written(space, space.set("/data/a", 0, { condition: [tag("10")] })), ["cell/changed"])
    }).pipe(Effect.provide(TestKernel.layer())))
})
