import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Computation, type Enzyme, explain, Kernel, MemoryStore, replay, type Space, why } from "systole"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as Restored from "../../src/loader/Restored.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

const whole = (space: Space) => space.examine((history) => replay(history, undefined, Infinity))

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { changed, difference, impossible } = yield* space.examine((history) => replay(history, from, head))
    assert.deepStrictEqual([difference, impossible, changed], [undefined, undefined, []], `from ${from}`)
  }
})

const beat = (space: Space, ...names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    for (const name of names) yield* space.signal({ signal: `/signals/${name}` })
    return yield* space.step
  })

/** A file of two enzymes: one reads a cell that depends on its version, one handles a signal of its own. */
const source = (version: string) => `import { Enzyme } from "systole"
import { mark } from "../lib/mark.ts"
export default [
  Enzyme.make({
    name: "copy",
    query: "/signals/copy",
    run: (tx) => tx.set("/data/copy", [mark, "${version}", tx.get("/data/${version}")])
  }),
  Enzyme.make({
    name: "take",
    query: "/signals/take_${version}",
    run: (tx) => tx.append("/data/taken", ["${version}", tx.get("/data/of_${version}") ?? 0])
  })
]
`

const write = (root: string, version: string): void => {
  const mark = `export const mark: string = "of ${version}"\n`
  for (const [file, text] of [["enzymes/m.ts", source(version)], ["lib/mark.ts", mark]] as const) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
}

const sources = { enzymes: ["enzymes"], plugins: [], required: [], millis: 10_000 }

/** A runtime that loads its modules from a folder and stores its spaces there, until the scope of the effect closes. */
const life = <A, E>(
  root: string,
  effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof TestKernel.layer>> | Layer.Success<ReturnType<typeof HostModules.layer>>>
) =>
  Effect.provide(effect, Layer.fresh(
    TestKernel.layer({}, SqliteFolder.layerIn(join(root, "data"))).pipe(
      Layer.provide(Restored.layer),
      Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer)))
    )
  ))

describe("A replay of beats with other module files", () => {
  it.live("is equal and explains the recorded code, in the same process and in a new one", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      yield* life(root, Effect.gen(function*() {
        const kernel = yield* Kernel
        const space = yield* kernel.space("test")
        let found: Loader.LoadedModules = { enzymes: [], nodes: [], plugins: [], broken: [], disabled: [] }
        yield* beat(space, "copy")
        for (const version of ["a", "b", "c"]) {
          write(root, version)
          found = yield* Loader.reload(found, sources)
          assert.deepStrictEqual(found.broken, [])
          yield* beat(space, "copy", "take_a", "take_b")
          yield* beat(space, "copy")
        }
        yield* beat(space)
        assert.deepStrictEqual([yield* space.get("/data/copy"), yield* space.get("/data/taken")], [
          ["of c", "c", undefined],
          [["a", 0], ["b", 0]]
        ])
        yield* isReplayedEqual(space)
        assert.deepStrictEqual((yield* kernel.enzymes).map(({ hash }) => hash), found.enzymes.map(({ hash }) => hash))
      }))
      yield* life(root, Effect.gen(function*() {
        yield* Loader.register(yield* Loader.load(sources))
        const space = yield* Effect.flatMap(Kernel, (kernel) => kernel.space("test"))
        yield* isReplayedEqual(space)
        const taken = yield* space.examine((history) => why(history, "/data/taken"))
        assert.deepStrictEqual(
          [taken?.beat, taken?.writers.map(({ by, reads }) => [by, reads.map(({ address }) => address)])],
          [3, [["take", ["/data/of_b"]]]]
        )
        const explained = yield* space.examine((history) => explain(history, 1, "take"))
        assert.deepStrictEqual(explained?.signals.map(({ verdict }) => verdict), ["no-match", "ran", "no-match"])
        assert.include(explained?.signals[2]?.detail, "/signals/take_a")
        assert.strictEqual((yield* space.examine((history) => explain(history, 0, "take")))?.signals[0]?.verdict, "not-registered")
      }))
    }))
})

/** Returns an enzyme as if it came from a module with this text. */
const module = (text: string, enzyme: Enzyme.Enzyme = TestSpace.enzyme("m", (tx) => tx.set("/data/m", [text, tx.get(`/data/${text}`)]))) =>
  ({ enzyme, code: { hash: digest(text), text } })

const swap = Effect.fnUntraced(function*(before: ReturnType<typeof module> | undefined, after: ReturnType<typeof module> | undefined) {
  const kernel = yield* Kernel
  if (before !== undefined) yield* kernel.unregister(before.enzyme)
  if (after !== undefined) yield* kernel.register(after.enzyme, after.code)
})

const [one, two] = [module("one"), module("two")]

/** Restores the requested modules from their texts. */
const recalling = (...modules: ReadonlyArray<ReturnType<typeof module>>) =>
  Layer.succeed(ModuleRestore, (hash, text) => {
    const enzymes = modules.flatMap(({ code, enzyme }) => code.text === text && code.hash === hash ? [enzyme] : [])
    return Promise.resolve({ enzymes, nodes: [] })
  })

const persistences = [["memory", MemoryStore.layer], ["SQLite", SqliteFolder.layer]] as const

/** A node with a different factor in each version, under the code of that version. */
const scaled = (factor: number) => {
  const text = `times ${factor}`
  return {
    node: Computation.make({ name: "scaled", output: "/data/scaled", run: (tx) => Number(tx.get("/data/one") ?? 0) * factor }),
    code: { hash: digest(text), text }
  }
}

describe("A replay of beats with another node module", () => {
  const [doubled, tripled] = [scaled(2), scaled(3)]
  const counted = TestSpace.enzyme("count", (tx) => tx.increment("/data/one"))
  const lived = Effect.gen(function*() {
    const kernel = yield* Kernel
    const space = yield* TestKernel.space([counted])
    yield* kernel.register(doubled.node, doubled.code)
    const watching = yield* Effect.forkChild(Stream.runDrain(space.watch("/data/scaled")), { startImmediately: true })
    for (let i = 0; i < 2; i++) yield* beat(space, "count")
    const before = yield* space.get("/data/scaled")
    yield* kernel.unregister(doubled.node)
    yield* kernel.register(tripled.node, tripled.code)
    yield* beat(space, "count")
    assert.deepStrictEqual([before, yield* space.get("/data/scaled")], [4, 9])
    yield* Fiber.interrupt(watching)
    return space
  })
  const restored = (nodes: ReadonlyArray<typeof doubled.node>) =>
    Layer.succeed(ModuleRestore, () => Promise.resolve({ enzymes: [], nodes }))

  it.effect("derives with the recorded node", () =>
    Effect.flatMap(lived, isReplayedEqual).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(restored([doubled.node]))))))

  it.effect("reports the missing code of the node", () =>
    Effect.gen(function*() {
      const { difference, impossible } = yield* whole(yield* lived)
      assert.deepStrictEqual([difference, impossible?.code], [undefined, "replay/code"])
      assert.include(impossible?.reason, "node scaled")
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(restored([]))))))
})

for (const [name, persistence] of persistences) {
  describe(`The text of a module, in ${name}`, () => {
    it.effect("is kept with the first beat that names it, and adds no cost to other beats", () =>
      Effect.gen(function*() {
        yield* swap(undefined, one)
        const space = yield* TestKernel.space([])
        assert.isUndefined(yield* space.blob(one.code.hash))
        yield* beat(space, "m")
        assert.strictEqual(new TextDecoder().decode(yield* space.blob(one.code.hash)), "one")
        yield* beat(space, "m")
        yield* swap(one, two)
        yield* beat(space, "m")
        yield* swap(two, one)
        yield* beat(space, "m")
        const named = yield* Effect.forEach(
          [0, 1, 2, 3],
          (beat) => Effect.map(space.journal(beat), (row) => [row!.text.includes("/sys/code"), row!.text.includes(`"made"`)])
        )
        assert.deepStrictEqual(named, [[true, true], [false, false], [true, true], [true, false]])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({}, persistence).pipe(Layer.provide(recalling(one, two))))))

    it.effect("is kept while it is active or a kept beat ran it, and is deleted then", () =>
      Effect.gen(function*() {
        yield* swap(undefined, one)
        const space = yield* TestKernel.space([])
        const pass = Effect.fnUntraced(function*(hours: number) {
          yield* TestClock.adjust(`${hours} hours`)
          for (let i = 0; i < 600; i++) yield* space.step
        })
        const hasCode = Effect.fnUntraced(function*(when: string, expected: Array<boolean>) {
          const held = yield* Effect.forEach([one, two], ({ code }) => Effect.map(space.blob(code.hash), (bytes) => bytes !== undefined))
          assert.deepStrictEqual(held, expected, when)
          const { difference, impossible } = yield* whole(space)
          assert.deepStrictEqual([difference, impossible], [undefined, undefined], when)
        })
        yield* beat(space, "m")
        for (let i = 0; i < 2; i++) yield* pass(60)
        assert.isUndefined(yield* space.journal(0))
        yield* beat(space, "m")
        yield* hasCode("the beat that named it is pruned, and it runs on", [true, false])
        yield* swap(one, two)
        yield* beat(space, "m")
        yield* pass(2)
        yield* hasCode("another took its place, and its beats are kept", [true, true])
        for (let i = 0; i < 2; i++) yield* pass(60)
        yield* beat(space, "m")
        yield* hasCode("no beat that ran it is left", [false, true])
      }).pipe(Effect.provide(
        TestKernel.layer({ retention: { journalMillis: 48 * 3_600_000, contentMillis: 3_600_000 } }, persistence).pipe(
          Layer.provide(recalling(one, two))
        )
      )))

    it.effect("is visible to runs from the next beat on, in a replay too", () =>
      Effect.gen(function*() {
        yield* swap(undefined, one)
        const space = yield* TestKernel.space([
          TestSpace.enzyme(
            "look",
            (tx) => tx.append("/data/seen", (tx.get(`/cas/${one.code.hash}`) as Uint8Array | undefined)?.length ?? null)
          )
        ])
        yield* beat(space, "look")
        yield* beat(space, "look")
        assert.deepStrictEqual(yield* space.get("/data/seen"), [null, 3])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({}, persistence))))
  })
}

describe("A replay of beats with other modules", () => {
  /** Beat 0 ran `one`, which is withdrawn by now. */
  const past = Effect.fnUntraced(function*(now: ReturnType<typeof module> | undefined) {
    yield* swap(undefined, one)
    const space = yield* TestKernel.space([])
    yield* beat(space, "m")
    yield* swap(one, now)
    yield* beat(space)
    return space
  })

  it.effect("restores the active modules, even if there are none now or were none then", () =>
    Effect.gen(function*() {
      const space = yield* past(undefined)
      assert.isUndefined(yield* space.get("/sys/code/m"))
      yield* beat(space, "m")
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(recalling(one))))))

  it.live("records that a space was opened without modules", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const runtime = () => Layer.fresh(TestKernel.layer({}, SqliteFolder.layerIn(folder)).pipe(Layer.provide(recalling(one))))
      yield* Effect.provide(past(one), runtime())
      yield* Effect.gen(function*() {
        const space = yield* TestKernel.space([])
        yield* beat(space, "m")
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(runtime()))
    }))

  it.effect("distinguishes modules of one name", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const mark = (by: string) => TestSpace.enzyme("m", (tx) => tx.append("/data/marks", by), { query: "/signals/m" })
      const old = ["first", "second"].map((by) => module("both", mark(by)))
      for (const { code, enzyme } of old) yield* kernel.register(enzyme, code)
      const space = yield* TestKernel.space([])
      yield* beat(space, "m")
      yield* swap(old[0], module("alone", mark("other")))
      yield* beat(space, "m")
      assert.deepStrictEqual(yield* space.get("/data/marks"), ["first", "second", "second", "other"])
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(Layer.succeed(ModuleRestore, () =>
      Promise.resolve({
              enzymes: ["first", "second"].map((by) =>
                TestSpace.enzyme("m", (tx) => tx.append("/data/marks", by), { query: "/signals/m" })),
              nodes: []
            })))))))

  it.effect("refuses a text with another digest", () =>
    Effect.gen(function*() {
      const space = yield* past(two)
      const { difference, impossible } = yield* space.examine((history) =>
        replay({ ...history, store: Object.assign(Object.create(history.store), { blob: () => new TextEncoder().encode("evil") }) }, 0, 0))
      assert.deepStrictEqual([difference, impossible?.code], [undefined, "replay/code"])
      assert.include(impossible?.reason, `m, whose text /cas/${one.code.hash} is not what was kept`)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(recalling(one))))))

  it.effect("names the missing modules if none can be imported, and reports no reads of other code", () =>
    Effect.gen(function*() {
      const space = yield* past(two)
      const { changed, impossible } = yield* whole(space)
      assert.deepStrictEqual([impossible?.code, impossible?.beat, changed], ["replay/code", 0, ["m"]])
      assert.include(impossible?.reason, "the build has no module")
      const reason = yield* space.examine((history) => why(history, "/data/m"))
      assert.deepStrictEqual(reason?.writers.map(({ by, reads }) => [by, reads]), [["m", []]])
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(Restored.layer), Layer.provide(ManifestModules.layer({}))))))

  it.effect("ignores unavailable code that took no part in the beat", () =>
    Effect.gen(function*() {
      yield* swap(undefined, one)
      const space = yield* TestKernel.space([TestSpace.enzyme("other", (tx) => tx.set("/data/other", 1))])
      yield* beat(space, "other")
      yield* swap(one, two)
      const { changed, difference, impossible } = yield* whole(space)
      assert.deepStrictEqual([difference, impossible, changed], [undefined, undefined, ["m"]])
    }).pipe(Effect.provide(TestKernel.layer())))
})
