import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { MemoryStore, type Persistence, type PersistenceError, type Space } from "systole"
import * as ContentRecord from "../../src/archive/ContentRecord.ts"
import * as Frames from "../frame/Frames.ts"
import { enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as LargeContent from "../../src/persistence/LargeContent.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as MemoryContents from "../support/MemoryContents.ts"
import { present } from "../support/Present.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { bring, frameOf, type Node, node, type Options } from "./Nodes.ts"
import { headerOf } from "./Spaces.ts"

const stores: Readonly<Record<string, Layer.Layer<Persistence, PersistenceError>>> = {
  "memory": MemoryStore.layer, "SQLite": SqliteFolder.layer
}

const modules = [enzyme("hold", (tx, { payload }) => void tx.set(`/data/held/${String(payload)}`, { address: `/cas/${String(payload)}` }))]

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Content in one record, and content in several pieces of its store. */
const small = MemoryContents.contentOf(100)
const long = MemoryContents.contentOf(1_300_000, 2)

/** A new space that holds contents. */
const holding = Effect.fnUntraced(function*(here: Node, contents: ReadonlyArray<Uint8Array>) {
  const space = yield* here.kernel.space("home")
  yield* steps(space, 3)
  for (const bytes of contents) {
    const { store, writer } = yield* space.content
    for (let at = 0; at < bytes.length; at += 1_000_000) writer.write(bytes.subarray(at, at + 1_000_000))
    yield* store(digestOf(bytes))
    yield* space.signal({ signal: "/signals/hold", payload: digestOf(bytes) })
    yield* space.step
  }
  return space
})

/** Over each store: a node with a space that holds contents. */
const over = (title: string, body: (home: Node, options: Options) => Effect.Effect<void, unknown, Scope.Scope>) => {
  for (const [name, store] of Object.entries(stores)) {
    const options = { modules, persistence: Layer.orDie(store) }
    it.effect(`${title}: ${name}`, () =>
      Effect.scoped(Effect.gen(function*() {
        const home = yield* node(options)
        yield* holding(home, [small, long])
        yield* body(home, options)
      })))
  }
}

const facts = (space: Space) => Effect.map(TestKernel.diagnostics(space), (all) =>
  all.filter(({ topic }) => topic === "persist.recover").map(({ note, sev }) => [sev, String(note)] as const))

const reads = (space: Space) =>
  Effect.forEach([small, long], (bytes) => Effect.map(space.blob(digestOf(bytes)), (found) => found !== undefined && digestOf(found)))

const both = [digestOf(small), digestOf(long)]

describe("Content of a frame", () => {
  over("N21 is in the frame, inline", (home, options) => Effect.gen(function*() {
    const there = yield* node(options)
    const { sealed, space } = yield* bring(there, "copy", { frames: [yield* frameOf(home, "home")] })
    yield* space.step
    assert.deepStrictEqual([sealed.absent, yield* facts(space), yield* reads(space)], [undefined, [], both])
  }))

  over("N21 by reference is that of an earlier frame of its chain", (home, options) => Effect.gen(function*() {
    const there = yield* node(options)
    const first = yield* frameOf(home, "home")
    const space = yield* home.kernel.space("home")
    const since = yield* space.examine(({ store }) => store.head())
    yield* space.signal({ signal: "/signals/hold", payload: both[0] })
    yield* space.step
    const second = yield* frameOf(home, "home", { since, content: "refs" })
    const { sealed, space: copy } = yield* bring(there, "copy", { frames: [first, second] })
    assert.deepStrictEqual([sealed.absent, yield* reads(copy)], [undefined, both])
  }))

  over("N21 by reference is asked of the space of the frame, where the caller may read it", (home) => Effect.gen(function*() {
    const frames = [yield* frameOf(home, "home", { content: "refs" })]
    assert.isBelow(frames[0]?.length ?? 0, 20_000)
    const { sealed, space } = yield* bring(home, "copy", { frames, mayRead: (name) => name === "home" })
    yield* space.step
    assert.deepStrictEqual([sealed.absent, yield* facts(space), yield* reads(space)], [undefined, [], both])
    const other = yield* bring(home, "other", { frames, mayRead: () => false })
    assert.strictEqual(other.sealed.absent?.count, 2)
  }))

  over("N21 that is found nowhere is told once, and is read when it came", (home, options) => Effect.gen(function*() {
    const there = yield* node(options)
    const { sealed, space } = yield* bring(there, "copy", {
      frames: [yield* frameOf(home, "home", { content: "refs" })], mayRead: () => true
    })
    assert.deepStrictEqual(sealed.absent, { count: 2, hashes: both.toSorted() })
    yield* steps(space, 2)
    const told = yield* facts(space)
    assert.deepStrictEqual(told.map(([severity]) => severity), ["sev:warn", "sev:warn"])
    for (const hash of both) assert.isTrue(told.some(([, note]) => note.includes(hash)), hash)
    assert.deepStrictEqual(yield* reads(space), [false, false])
    const { store, writer } = yield* space.content
    writer.write(small)
    yield* store(digestOf(small))
    yield* space.step
    assert.deepStrictEqual(yield* reads(space), [digestOf(small), false])
    yield* replays(space)
  }))

  it.effect("N21 beyond 32 MiB gets objects of its own from the content store", () => Effect.scoped(Effect.gen(function*() {
    const contents = MemoryContents.make()
    const here = yield* node({ modules, contents: contents.store })
    const space = yield* holding(here, [])
    const bytes = MemoryContents.contentOf(LargeContent.STORED + 5)
    const { hash } = yield* space.receive((async function*() {
      for (let at = 0; at < bytes.length; at += LargeContent.OBJECT) yield bytes.subarray(at, at + LargeContent.OBJECT)
    })())
    yield* space.signal({ signal: "/signals/hold", payload: hash })
    yield* space.step
    const frames = [yield* frameOf(here, "home")]
    const there = yield* node({ modules, contents: contents.store })
    const { sealed, space: copy } = yield* bring(there, "copy", { frames })
    assert.isUndefined(sealed.absent)
    yield* here.kernel.remove("home")
    const part = yield* copy.blobPart(hash, 32)
    assert.deepStrictEqual([part?.size, part?.bytes], [bytes.length, bytes.slice(32 * 1_048_576)])
    assert.isTrue([...contents.objects.keys()].every((key) => key.startsWith("copy/")))
    const damaged = contents.objects.get([...contents.objects.keys()].find((key) => key.endsWith("part-000003")) ?? "")
    damaged?.bytes.fill(0)
    const without = yield* bring(there, "without", { frames: [yield* frameOf(there, "copy")] })
    assert.strictEqual(without.sealed.absent?.count, 1)
    assert.isFalse([...contents.objects.keys()].some((key) => key.startsWith("without/")))
  })))

  it.effect("N21 beyond 32 MiB stays in the content store when a restore of its space fails, and the next one has it", () =>
    Effect.scoped(Effect.gen(function*() {
      const contents = MemoryContents.make()
      const lost = yield* node({ modules, contents: contents.store })
      const space = yield* holding(lost, [])
      const bytes = MemoryContents.contentOf(LargeContent.STORED + 5)
      const { hash } = yield* space.receive((async function*() {
        for (let at = 0; at < bytes.length; at += LargeContent.OBJECT) yield bytes.subarray(at, at + LargeContent.OBJECT)
      })())
      yield* space.signal({ signal: "/signals/hold", payload: hash })
      yield* space.step
      const frame = yield* frameOf(lost, "home")
      const originals = [...contents.objects.keys()]
      const there = yield* node({ modules, contents: contents.store })
      const end = present(Frames.places(frame).at(-1))
      const take = <E>(rest: Stream.Stream<Uint8Array, E>) => there.imports.take({
        space: "home", id: "abcdefgh", why: "restore", from: 0, bytes: Stream.concat(Stream.make(frame.subarray(0, end)), rest)
      })
      const refused = Effect.flip(take(Stream.make(frame.slice(end).fill(0, 30))))
      const cut = Effect.flip(take(Stream.fail("cut")))
      const ways = {
        "a refused frame": refused,
        "a removal": Effect.gen(function*() {
          yield* cut
          yield* TestClock.adjust("11 minutes")
          yield* there.kernel.remove("home")
        }),
        "an hour without a part": Effect.gen(function*() {
          yield* cut
          assert.isAbove(contents.objects.size, originals.length)
          yield* TestClock.adjust("61 minutes")
          yield* turns()
        })
      }
      for (const [way, failing] of Object.entries(ways)) {
        yield* failing
        assert.deepStrictEqual(yield* there.kernel.spaces, [], way)
        assert.deepStrictEqual([...contents.objects.keys()], originals, way)
      }
      const { sealed, space: restored } = yield* bring(there, "home", { frames: [frame], why: "restore" })
      assert.isUndefined(sealed.absent)
      assert.strictEqual((yield* restored.blobPart(hash, 0))?.size, bytes.length)
    })))

  it.effect("is refused where a reference names objects that do not fit its size", () => Effect.scoped(Effect.gen(function*() {
    const here = yield* node({ modules })
    yield* holding(here, [])
    const header = headerOf(yield* frameOf(here, "home", { history: "none" }))
    const digest = "a".repeat(64)
    const descriptors = [
      { size: 5, upload: "a", parts: [digest, digest] }, { size: 6, upload: "a", parts: [digest] },
      { size: 5, upload: "../b", parts: [digest] }, { size: 5, upload: "a", parts: ["b"] }
    ]
    const texts = [...descriptors.map(LargeContent.encode), new TextEncoder().encode("systole/large-content\n{"), new Uint8Array(9)]
    for (const [n, bytes] of texts.entries()) {
      const { pieces } = yield* Effect.promise(() =>
        Frames.write([{ type: "content", key: ContentRecord.ofSize(digest, false, 5), bytes }], header))
      const refused = yield* Effect.flip(bring(here, `copy${n}`, { frames: [Frames.whole({ pieces })] }))
      assert.deepInclude(refused, { code: "frame/bounds" }, `${n}`)
    }
  })))
})
