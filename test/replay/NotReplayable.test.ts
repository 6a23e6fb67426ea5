import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { explain, Kernel, replay, type Space, verify, why } from "systole"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

type HistorySource = Parameters<Parameters<Space["examine"]>[0]>[0]

/** The history with another text of each journal row, which has one line. */
const rewritten = (history: HistorySource, rewrite: (text: string) => string): HistorySource => {
  const { hash, store } = history
  const rows = [...store.scanJournal(0, store.head().beat)].map((row) => {
    const text = rewrite(row.text)
    return { ...row, text, hash: hash(text) }
  })
  const changed: Partial<HistorySource["store"]> = {
    entry: (beat) => rows[beat],
    scanJournal: (from, to) => rows.filter(({ beat }) => beat >= from && beat <= to)
  }
  const get = (_: object, key: string | symbol): unknown =>
    Reflect.get(changed, key) ?? Reflect.get(store, key).bind?.(store) ?? Reflect.get(store, key)
  return { ...history, store: new Proxy<HistorySource["store"]>(store, { get }) }
}

const version = (value: number) => TestSpace.enzyme("m", (tx) => tx.set("/data/m", value))

describe("A replay", () => {
  it.effect("cannot begin with a pruned beat, and begins with the oldest kept one by default", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([version(1)])
      for (let i = 0; i < 700; i++) yield* space.step
      const { first } = yield* space.examine(verify)
      const { difference, impossible } = yield* space.examine((history) => replay(history, 0, Infinity))
      assert.deepStrictEqual([difference, impossible?.code, impossible?.beat], [undefined, "replay/pruned", 0])
      assert.include(impossible?.reason, `beat ${first! - 1}`)
      const whole = yield* space.examine((history) => replay(history, undefined, Infinity))
      assert.deepStrictEqual([whole.impossible, whole.difference, whole.from, whole.to, whole.beats], [
        undefined, undefined, first, 699, 700 - first!
      ])
      const early = yield* space.examine((history) => replay(history, undefined, 5))
      assert.deepStrictEqual([early.beats, early.impossible?.code, early.impossible?.beat], [0, "replay/pruned", 5])
      assert.strictEqual((yield* space.examine((history) => replay(history, undefined, first!))).beats, 1)
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 30_000 } }))))

  for (const steps of [500, 700, 900]) {
    it.effect(`ends if pruning overtakes it (${steps} beats meanwhile)`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([TestSpace.enzyme("count", (tx) => tx.increment("/data/count"))])
        for (let i = 0; i < 900; i++) {
          yield* space.signal({ signal: "/signals/count" })
          yield* space.step
        }
        const looking = yield* Effect.forkChild(
          space.examine((history) => replay(history, undefined, Infinity)),
          { startImmediately: true }
        )
        yield* TestSpace.turns(12)
        for (let i = 0; i < steps; i++) yield* space.step
        const { difference, impossible } = yield* Fiber.join(looking)
        assert.deepStrictEqual([difference, impossible?.code], [undefined, "replay/pruned"])
      }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 150_000 } }))))
  }

  it.effect("names the semantics of a beat that older or newer rules made", () =>
    Effect.gen(function*() {
      let outside = 0
      const space = yield* TestKernel.space([TestSpace.enzyme("leaky", (tx) => tx.set("/data/leak", ++outside))])
      yield* TestSpace.steps(space, 2)
      yield* space.signal({ signal: "/signals/leaky" })
      yield* space.step
      const by = (semantics: string) => (text: string) => text.replace(',"semantics":2', semantics)
      const ends = (range: readonly [number, number], semantics: string) =>
        space.examine(async (history) => {
          const { difference, impossible } = await replay(rewritten(history, by(semantics)), ...range)
          return [difference, impossible?.code, impossible?.beat]
        })
      assert.deepStrictEqual(yield* ends([1, 1], ',"semantics":2'), [undefined, undefined, undefined])
      assert.deepStrictEqual(yield* ends([1, 1], ""), [undefined, undefined, undefined], "the same by either rules")
      assert.deepStrictEqual(yield* ends([2, 2], ""), [undefined, "replay/semantics", 2])
      assert.deepStrictEqual(yield* ends([1, 1], ',"semantics":3'), [undefined, "replay/semantics", 1])
      const explained = yield* space.examine((history) => explain(rewritten(history, by("")), 2, "leaky"))
      assert.deepStrictEqual(explained?.signals.map(({ verdict }) => verdict), ["ran"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ends at an entry that needs a pruned one", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        TestSpace.enzyme("start", (tx) => tx.signal({ signal: "/signals/late", at: { beat: 650 } })),
        TestSpace.enzyme("late", (tx) => tx.set("/data/late", 1))
      ])
      yield* space.signal({ signal: "/signals/start" })
      for (let i = 0; i < 700; i++) yield* space.step
      const { difference, impossible } = yield* space.examine((history) => replay(history, undefined, Infinity))
      assert.deepStrictEqual([difference, impossible?.code, impossible?.beat], [undefined, "replay/pruned", 650])
      const reason = yield* space.examine((history) => why(history, "/data/late"))
      assert.deepStrictEqual([reason?.beat, reason?.writers.map(({ by, reads }) => [by, reads])], [650, [["late", []]]])
      const explained = yield* space.examine((history) => explain(history, 650, "start"))
      assert.strictEqual(explained?.signals[0]?.verdict, "unknown")
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 30_000 } }))))

  it.effect("reports missing or changed code if a beat differs because of it, and a difference for equal code", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const [old, changed] = [version(1), version(2)]
      yield* kernel.register(old, { hash: "OLD" })
      const space = yield* kernel.space("test")
      yield* space.signal({ signal: "/signals/m" })
      yield* space.step
      const replayed = Effect.suspend(() => space.examine((history) => replay(history, 0, 0)))
      assert.isUndefined((yield* replayed).impossible)
      yield* kernel.unregister(old)
      const gone = yield* replayed
      assert.deepStrictEqual([gone.difference, gone.impossible?.code, gone.impossible?.beat], [undefined, "replay/code", 0])
      assert.include(gone.impossible?.reason, "m, whose text /cas/OLD is not kept")
      yield* kernel.register(changed, { hash: "NEW" })
      assert.strictEqual((yield* replayed).impossible?.code, "replay/code")
      yield* kernel.unregister(changed)
      yield* kernel.register(changed, { hash: "OLD" })
      const differs = yield* replayed
      assert.deepStrictEqual([differs.impossible, differs.difference?.address], [undefined, "/data/m"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reports a difference although unrelated code was added, removed or changed", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      let outside = 0
      const leaky = TestSpace.enzyme("leaky", (tx) => tx.set("/data/leak", ++outside))
      const [old, changed, added] = [version(1), version(2), TestSpace.enzyme("added", () => undefined)]
      yield* kernel.register(leaky, { hash: "LEAKY" })
      yield* kernel.register(old, { hash: "OLD" })
      const space = yield* kernel.space("test")
      yield* space.signal({ signal: "/signals/leaky" })
      yield* space.step
      yield* kernel.unregister(old)
      yield* kernel.register(changed, { hash: "NEW" })
      yield* kernel.register(added, { hash: "ADDED" })
      const { changed: names, difference, impossible } = yield* space.examine((history) => replay(history, 0, 0))
      assert.deepStrictEqual([impossible, difference?.enzyme, difference?.address, names], [undefined, "leaky", "/data/leak", ["m"]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("runs without code that was added later", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(version(1), { hash: "OLD" })
      const space = yield* kernel.space("test")
      yield* space.signal({ signal: "/signals/m" })
      yield* space.step
      yield* kernel.register(TestSpace.enzyme("late", (tx) => tx.set("/data/late", 1), { query: "/signals/m" }), { hash: "LATE" })
      const { difference, impossible } = yield* space.examine((history) => replay(history, 0, 0))
      assert.deepStrictEqual([difference, impossible], [undefined, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reports that an enzyme without a module is gone", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const only = version(1)
      const space = yield* TestKernel.space([only])
      yield* space.signal({ signal: "/signals/m" })
      yield* space.step
      yield* kernel.unregister(only)
      assert.strictEqual((yield* space.examine((history) => replay(history, 0, 0))).impossible?.code, "replay/code")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("refuses to hold more historic documents than the limit", () =>
    Effect.gen(function*() {
      const fill = TestSpace.enzyme("fill", (tx) => tx.set(`/data/${tx.beat % 10}`, `${tx.beat}`.padStart(300, "x")))
      const space = yield* TestKernel.space([fill])
      for (let i = 0; i < 20; i++) {
        yield* space.signal({ signal: "/signals/fill" })
        yield* space.step
      }
      const { difference, impossible } = yield* space.examine((history) => replay(history, 10, Infinity))
      assert.deepStrictEqual([difference, impossible?.code], [undefined, "replay/size"])
      assert.isUndefined((yield* space.examine((history) => replay(history, 17, Infinity))).impossible)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, pastBytes: 2000 } }))))
})
