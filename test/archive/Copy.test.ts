import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Kernel, MemoryStore, type Persistence, type PersistenceError, type Space, verify } from "systole"
import * as Capability from "../../src/frame/Capability.ts"
import * as Frames from "../frame/Frames.ts"
import { begun } from "../kernel/TestSpace.ts"
import * as KeyValueStore from "../persistence/KeyValueStore.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Spaces from "./Spaces.ts"

const stores: Readonly<Record<string, Layer.Layer<Persistence, PersistenceError>>> = {
  "memory": MemoryStore.layer, "SQLite": SqliteFolder.layer, "a store of keys and values": KeyValueStore.layer
}

/** Runs a body over the space of the script, in a kernel of its own over a store. */
const over = <A, E>(
  store: Layer.Layer<Persistence, PersistenceError>,
  body: (space: Space, kernel: Kernel["Service"]) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function*() {
    const space = yield* TestKernel.space(Spaces.enzymes, "home")
    yield* Spaces.before(space)
    return yield* body(space, yield* Kernel)
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Layer.provideMerge(TestKernel.layer({}, store), TestClock.layer()))))

const quiet = over(MemoryStore.layer, (space) => Spaces.frameOf(space))

const codeOf = (error: unknown): string => (error as { readonly code: string }).code

describe("A frame of a running space", () => {
  for (const [name, store] of Object.entries(stores)) {
    it.effect(`N31 is the state at its beat whatever runs meanwhile, with one root on every store: ${name}`, () => Effect.gen(function*() {
      const frame = yield* over(store, (space) => Effect.gen(function*() {
        const before = yield* Spaces.frameOf(space)
        const during = yield* Spaces.frameOf(space, { between: Spaces.meanwhile(space) })
        assert.strictEqual(Buffer.compare(during, before), 0)
        assert.notStrictEqual(Buffer.compare(yield* Spaces.frameOf(space), before), 0)
        return before
      }))
      assert.strictEqual(Buffer.compare(frame, yield* quiet), 0)
    }))
  }

  it.effect("ends by name when more documents change meanwhile than a pin copies", () =>
    over(MemoryStore.layer, (space) => Effect.gen(function*() {
      const write = (letter: string) =>
        Effect.forEach(Array.from({ length: 18 }, (_, n) => n), (n) =>
          begun(space, space.set(`/data/large/${n}`, letter.repeat(1_000_000))), { discard: true })
      yield* write("x")
      let isChanged = false
      const between = Effect.suspend(() => {
        if (isChanged) return Effect.void
        isChanged = true
        return write("y")
      })
      const exit = yield* Effect.exit(Spaces.frameOf(space, { between }))
      assert.strictEqual(exit._tag === "Failure" ? codeOf(Cause.squash(exit.cause)) : "a frame", "export/outrun")
    })))

  it.effect("N31 has the chain of the journal from its anchor to its head, and so has its copy", () =>
    over(SqliteFolder.layer, (space, kernel) => Effect.gen(function*() {
      const frame = yield* Spaces.frameOf(space)
      const { anchor, head } = Spaces.headerOf(frame)
      const journal = (yield* Effect.promise(() => Spaces.recordsOf(frame))).filter(({ type }) => type === "journal")
      assert.deepStrictEqual([anchor.beat + 1, head.beat, journal.length], [0, 4, 5])
      yield* Spaces.take(kernel, frame)
      const copy = yield* kernel.space("copy")
      yield* copy.step
      const { entries, fault } = yield* copy.examine(verify)
      assert.deepStrictEqual([entries, fault], [6, undefined])
    })))
})

describe("A copy", () => {
  it.effect("N20 is equal whatever the order of its records is", () =>
    over(MemoryStore.layer, (space, kernel) => Effect.gen(function*() {
      const frame = yield* Spaces.frameOf(space)
      const header = Spaces.headerOf(frame)
      const records = yield* Effect.promise(() => Spaces.recordsOf(frame))
      const states: Array<ReadonlyArray<string>> = []
      for (const seed of [0, 1, 2, 3]) {
        const mixed = seed === 0 ? records : Random.shuffled(Random.make(seed), records)
        // Rows of the journal come in their order.
        const journal = records.filter(({ type }) => type === "journal")[Symbol.iterator]()
        const shuffled = mixed.map((record) => record.type === "journal" ? present(journal.next().value) : record)
        const { pieces } = yield* Effect.promise(() => Frames.write(shuffled, header))
        yield* Spaces.take(kernel, Frames.whole({ pieces }), { space: `copy${seed}` })
        states.push((yield* Spaces.stateOf(yield* kernel.space(`copy${seed}`))).map((line) => line.replaceAll(`copy${seed}`, "copy")))
      }
      assert.isAbove(present(states[0]).length, 40)
      for (const state of states) assert.deepStrictEqual(state, states[0])
    })))

  it.effect("N20 is refused before any write if it needs a capability that is not known", () =>
    over(MemoryStore.layer, (space, kernel) => Effect.gen(function*() {
      const header = { ...Spaces.headerOf(yield* Spaces.frameOf(space)), caps: 2 ** 31 }
      const { pieces } = yield* Effect.promise(() => Frames.write([], header))
      const refused = yield* Effect.flip(Spaces.take(kernel, Frames.whole({ pieces })))
      assert.strictEqual(codeOf(refused), "frame/unknown")
      assert.strictEqual((yield* kernel.importing("copy")).arrival()?.note, "")
      assert.deepStrictEqual(Capability.unknown(2 ** 31), [31])
    })))

  it.effect("N19 of a frame that was damaged is no space: its bytes, its order, its end", () =>
    over(MemoryStore.layer, (space, kernel) => Effect.gen(function*() {
      const frame = yield* Spaces.frameOf(space)
      const flipped = (at: number) => frame.map((byte, i) => i === at ? byte ^ 64 : byte)
      const draw = Random.make(11)
      const places = Array.from({ length: 20 }, () => draw(frame.length))
      const damaged = [frame.subarray(0, -1), frame.subarray(0, frame.length >> 1), ...places.map(flipped)]
      for (const [n, bytes] of damaged.entries()) {
        const refused = yield* Effect.flip(Spaces.take(kernel, bytes, { space: `copy${n}` }))
        assert.match(codeOf(refused), /^frame\//, `${n}`)
        assert.strictEqual(codeOf(yield* Effect.flip(kernel.space(`copy${n}`, { create: false }))), "space/importing")
      }
    })))
})
