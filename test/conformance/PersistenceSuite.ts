/**
 * The contract of persistence: every backend runs this suite.
 *
 * @module
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Persistence, type PersistenceError, type SpaceStore } from "systole"
import { beat, cell, inbox, reason, thrown, using, write } from "../persistence/Batches.ts"
import * as Model from "../persistence/StoreModel.ts"
import { content } from "./ContentSuite.ts"
import { queue } from "./QueueSuite.ts"
import { checkParts, everywhere, mixed, same, type Test } from "./StoreTest.ts"
import { moments, writers } from "./WriterSuite.ts"
import * as Trials from "../support/Trials.ts"

/** Tests that `layer` keeps the contract. Each test gets a layer of its own. */
export const suite = (name: string, layer: Layer.Layer<Persistence, PersistenceError>): void => {
  const test: Test = (title, body) => it.effect(title, () => Effect.asVoid(body()).pipe(Effect.provide(Layer.fresh(layer))))
  describe(`${name} keeps the contract of persistence`, () => {
    describe("spaces", () => spaces(test))
    describe("reads", () => reads(test))
    describe("receipts", () => receipts(test))
    describe("queue", () => queue(test))
    describe("observations", () => observations(test))
    describe("blobs", () => blobs(test))
    describe("content", () => content(test))
    describe("durability", () => durability(test))
    describe("writers", () => writers(test))
    describe("moments", () => moments(test))
    describe("retention", () => retained(test))
    describe("model", () => model(test))
  })
}

const spaces = (test: Test) => {
  test("refuses a space that is not there, and makes it when asked to", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create: false })), "NoSuchSpace")
      const store = yield* using("shop", Effect.succeed)
      assert.deepStrictEqual([store.space, store.epoch, store.head()], ["shop", 0, { beat: -1, clock: 0, hash: "" }])
      assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create: false })), "succeeded")
    }))
  test("refuses a name that cannot name a space", () =>
    Effect.gen(function*() {
      for (const space of ["", "Shop", "-a", "a/b", "../a", "a.b", "x".repeat(64)]) {
        assert.strictEqual(yield* reason(using(space, () => Effect.void)), "InvalidSpaceName", space)
      }
    }))
  test("lists the spaces by name and keeps them apart", () =>
    Effect.gen(function*() {
      for (const space of ["b", "a0", "a"]) yield* using(space, (store) => write(store, beat(0, { cells: [cell("/data/x", space)] })))
      assert.deepStrictEqual(yield* Persistence.use((persistence) => persistence.spaces), ["a", "a0", "b"])
      assert.strictEqual(yield* using("a", (store) => Effect.sync(() => store.read("/data/x"))), "a")
    }))
}

const reads = (test: Test) => {
  test("shows at once what was appended, and what was deleted no more", () =>
    mixed({
      before: beat(0, { cells: [cell("/data/a", "1"), cell("/data/b", "1"), cell("/data/c", "1")] }),
      after: beat(1, { cells: [cell("/data/a", "2"), cell("/data/b", undefined), cell("/data/d", "2"), cell("/data/d", undefined)] })
    }, (store) => {
      assert.deepStrictEqual(["a", "b", "c", "d"].map((name) => store.read(`/data/${name}`)), ["2", undefined, "1", undefined])
    }))
  test("lists the names directly below, scope by scope, in code-unit order", () =>
    mixed({
      before: beat(0, { cells: ["/b", "/a/z", "/a/\u{1f600}", "/a/x/deep", "/a/gone", "/a/mine?scope=user:1"].map((key) => cell(key, "1")) }),
      after: beat(1, { cells: [cell("/a/\uff21", "1"), cell("/a/gone", undefined), cell("/a/B", "1"), cell("/a/z", "2"), cell("/a/also?scope=user:1", "1")] })
    }, (store) => {
      assert.deepStrictEqual(store.children("space", "/a"), ["B", "z", "\u{1f600}", "\uff21"])
      assert.deepStrictEqual(store.children("user:1", "/a"), ["also", "mine"])
      assert.deepStrictEqual(store.children("user:2", "/a"), [])
      assert.deepStrictEqual(store.children("space", "/"), ["b"])
      assert.deepStrictEqual(store.children("space", "/a/x"), ["deep"])
    }))
  test("pages through all keys below, in code-unit order", () => {
    const before = ["/a/1", "/a/2", "/a/2/x", "/a/2-b", "/a/3?scope=user:1", "/a/\u{1f600}", "/a/4", "/a0", "/b"]
    const all = ["/a/2", "/a/2-b", "/a/2/x", "/a/3?scope=session:s", "/a/3?scope=user:1", "/a/5", "/a/\u{1f600}", "/a/\uff21", "/a/\uff21/x"]
    return mixed({
      before: beat(0, { cells: before.map((key) => cell(key, "1")) }),
      after: beat(1, {
        cells: [cell("/a/1", undefined), cell("/a/4", undefined), ...["/a/5", "/a/3?scope=session:s", "/a/\uff21", "/a/\uff21/x"].map((key) => cell(key, "1"))]
      })
    }, (store) => {
      for (const limit of [1, 2, 3, 100]) {
        const paged: Array<string> = []
        for (let after = ""; ;) {
          const page = store.below("/a", after === "" ? { limit } : { after, limit })
          assert.isAtMost(page.length, limit)
          if (page.length === 0) break
          paged.push(...page)
          after = page[page.length - 1]!
        }
        assert.deepStrictEqual(paged, all)
      }
      assert.deepStrictEqual(store.below("/", { limit: 100 }), [...all, "/a0", "/b"])
    })
  })
  test("keeps texts as they are", () => {
    const texts = ["", "é\u{1f600}\uffff", "\"\\", "x".repeat(3_000_000)]
    return everywhere(
      (store) => store.append(beat(0, { cells: texts.map((text, i) => cell(`/data/t${i}`, text)) })),
      (store) => assert.isTrue(texts.every((text, i) => store.read(`/data/t${i}`) === text))
    )
  })
  test("scans the journal, whose numbers may have gaps", () => {
    const numbers = Array.from({ length: 150 }, (_, i) => i < 100 ? i : i * 10)
    return everywhere((store) => numbers.forEach((number) => store.append(beat(number))), (store) => {
      const scan = (from: number, to: number) => Array.from(store.scanJournal(from, to), (row) => row.beat)
      assert.deepStrictEqual(scan(0, Infinity), numbers)
      assert.deepStrictEqual(scan(98, 1010), [98, 99, 1000, 1010])
      assert.deepStrictEqual(scan(2000, 3000), [])
      assert.deepStrictEqual(store.entry(1010), beat(1010).entry)
      assert.isUndefined(store.entry(500))
      assert.deepStrictEqual(store.head(), { beat: 1490, clock: 1_490_000, hash: "hash1490" })
    })
  })
  test("lets what is flushed be scanned on without a gap", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (let n = 0; n < 200; n++) store.append(beat(n, { queued: [{ seq: n, text: String(n) }] }))
        const journal = store.scanJournal(0, Infinity)[Symbol.iterator]()
        const queue = store.queue()[Symbol.iterator]()
        const seen: readonly [Array<number>, Array<number>] = [[journal.next().value!.beat], [queue.next().value!.seq]]
        yield* store.flush
        for (let row = journal.next(); row.done !== true; row = journal.next()) seen[0].push(row.value.beat)
        for (let row = queue.next(); row.done !== true; row = queue.next()) seen[1].push(row.value.seq)
        const numbers = Array.from({ length: 200 }, (_, n) => n)
        assert.deepStrictEqual(seen, [numbers, numbers])
      })))
  test("lets what is flushed amid a scan of the queue be there once, and no more when it is taken", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ seq: from + i, text: String(from + i) }))
        yield* write(store, beat(0, { queued: rows(0, 150) }))
        store.append(beat(1, { queued: rows(150, 200), dequeued: [149] }))
        const queue = store.queue()[Symbol.iterator]()
        const seen = [queue.next().value!.seq]
        yield* store.flush
        store.append(beat(2, { dequeued: [148, 199] }))
        for (let row = queue.next(); row.done !== true; row = queue.next()) seen.push(row.value.seq)
        assert.deepStrictEqual(seen, rows(0, 148).map(({ seq }) => seq).concat(rows(150, 199).map(({ seq }) => seq)))
      })))
}

const receipts = (test: Test) => {
  test("finds the receipts of a signal by its id", () =>
    mixed({
      before: beat(0, { receipts: [{ id: "x", enzyme: "b", beat: 0 }, { id: "y", enzyme: "b", beat: 0 }, { id: "x", enzyme: "c", beat: 0 }] }),
      after: beat(1, { receipts: [{ id: "x", enzyme: "a", beat: 1 }, { id: "x", enzyme: "c", beat: 1 }] })
    }, (store) => {
      assert.deepStrictEqual(store.receipts("x").map((row) => [row.id, row.enzyme, row.beat]), [["x", "a", 1], ["x", "b", 0], ["x", "c", 1]])
      assert.deepStrictEqual(store.receipts("y").map((row) => row.beat), [0])
      assert.deepStrictEqual(store.receipts("z"), [])
    }))
  test("keeps the digest that a receipt came with, in its last form", () =>
    mixed({
      before: beat(0, { receipts: [{ id: "x", enzyme: "", beat: 0, digest: "d" }, { id: "y", enzyme: "", beat: 0, digest: "d" }] }),
      after: beat(1, { receipts: [{ id: "x", enzyme: "", beat: 0, digest: "e" }, { id: "x", enzyme: "a", beat: 1 }] })
    }, (store) => {
      assert.deepStrictEqual(store.receipts("x"), [{ id: "x", enzyme: "", beat: 0, digest: "e" }, { id: "x", enzyme: "a", beat: 1 }])
      assert.deepStrictEqual(store.receipts("y"), [{ id: "y", enzyme: "", beat: 0, digest: "d" }])
    }))
}

const observations = (test: Test) => {
  const row = (node: string, text: string | undefined = `{"of":"${node}"}`) => ({ node, text })
  test("keeps what is observed of nodes, the newest of each, until it is taken away", () =>
    mixed({
      before: beat(0, { observations: [row("b"), row("a", "1"), row("c")] }),
      after: beat(1, { observations: [row("a", "2"), { node: "c", text: undefined }, { node: "none", text: undefined }] })
    }, (store) => assert.deepStrictEqual(store.observations(), [row("a", "2"), row("b")])))
}

const blobs = (test: Test) => {
  const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => i * 7)
  test("keeps content of a batch by its hash", () =>
    everywhere((store) => store.append(inbox({ blobs: [{ hash: "big", bytes }, { hash: "empty", bytes: new Uint8Array() }] })), (store) => {
      assert.isTrue(same(store.blob("big"), bytes))
      assert.isTrue(same(store.blob("empty"), new Uint8Array()))
      checkParts(store, { big: bytes, empty: new Uint8Array() })
      assert.isUndefined(store.blob("other"))
      assert.deepStrictEqual(["big", "empty", "other"].map((hash) => store.holds(hash)), [true, true, false])
    }))
  test("marks the texts of modules among content, whatever content comes once more", () => {
    const text = Uint8Array.of(1, 2)
    const come = (hash: string, code?: boolean) => inbox({ blobs: [{ hash, bytes: text, ...code === undefined ? {} : { code } }] })
    return mixed({ before: come("before", true), after: come("after", true) }, (store) => {
      store.append(come("before"))
      store.append(come("after"))
      store.append(come("other"))
      assert.deepStrictEqual(["before", "after", "other", "none"].map((hash) => store.isCode(hash)), [true, true, false, false])
    })
  })
  test("takes content piece by piece, in pieces of any size up to 1 MiB", () =>
    everywhere((store) => {
      for (const size of [1_048_576, 65_537]) {
        const writer = store.writeBlob()
        const buffer = new Uint8Array(size)
        for (let at = 0; at < bytes.length; at += size) {
          const chunk = bytes.subarray(at, at + size)
          buffer.set(chunk)
          writer.write(buffer.subarray(0, chunk.length))
        }
        writer.finish(`by${size}`)
      }
      store.writeBlob().finish("nothing")
      assert.throws(() => store.writeBlob().write(new Uint8Array(1_048_577)), /limit is 1048576/)
    }, (store) => {
      assert.isTrue(same(store.blob("by1048576"), bytes))
      assert.isTrue(same(store.blob("by65537"), bytes))
      assert.isTrue(same(store.blob("nothing"), new Uint8Array()))
      checkParts(store, { by1048576: bytes, by65537: bytes, nothing: new Uint8Array() })
      assert.isTrue(store.holds("by65537"))
    }))
  test("keeps the same content once, and forgets what was aborted or not flushed", () =>
    Effect.gen(function*() {
      const put = (store: SpaceStore, hash: string) => {
        const writer = store.writeBlob()
        writer.write(bytes.subarray(0, 10))
        writer.finish(hash)
        assert.throws(() => writer.write(bytes.subarray(0, 1)), /finished/)
      }
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          put(store, "a")
          put(store, "a")
          yield* store.flush
          put(store, "a")
          yield* store.flush
          put(store, "late")
          const writer = store.writeBlob()
          writer.write(bytes.subarray(0, 10))
          writer.abort()
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => {
          assert.isTrue(same(store.blob("a"), bytes.subarray(0, 10)))
          assert.isUndefined(store.blob("late"))
        }))
    }))
}

const durability = (test: Test) => {
  test("keeps what was flushed, and nothing of what was only appended", () =>
    Effect.gen(function*() {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* write(store, beat(0, { cells: [cell("/a", "0")], queued: [{ seq: 0, text: "q" }] }))
          store.append(beat(1, { cells: [cell("/a", "1"), cell("/b", "1")], dequeued: [0], receipts: [{ id: "x", enzyme: "e", beat: 1 }] }))
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => {
          assert.deepStrictEqual([store.head().beat, store.read("/a"), store.read("/b"), store.children("space", "/")], [0, "0", undefined, ["a"]])
          assert.deepStrictEqual([[...store.queue()].length, store.receipts("x").length, store.entry(1)], [1, 0, undefined])
          assert.deepStrictEqual(store.anchor(), { beat: -1, hash: "" })
        }))
    }))
  test("writes nothing when a group cannot be written whole, and ends the handle", () =>
    Effect.gen(function*() {
      yield* using("shop", (store) => write(store, beat(0, { cells: [cell("/a", "0")] })))
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const broken = {
            seq: 1,
            get text(): string {
              throw new Error("no text")
            }
          }
          store.append(beat(1, { cells: [cell("/a", "1")], queued: [{ seq: 0, text: "q" }, broken] }))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(store.flush)))
          assert.strictEqual(thrown(() => store.append(beat(2))), "StoreUnavailable")
          assert.strictEqual(yield* reason(store.flush), "StoreUnavailable")
        }))
      yield* using("shop", (store) => Effect.sync(() => assert.deepStrictEqual([store.head().beat, store.read("/a"), [...store.queue()]], [0, "0", []])))
    }))
  test("flushes nothing when nothing was appended, and takes no more once closed", () =>
    Effect.gen(function*() {
      const store = yield* using("shop", (store) => Effect.as(Effect.andThen(store.flush, store.flush), store))
      assert.strictEqual(thrown(() => store.append(beat(0))), "StoreUnavailable")
      assert.strictEqual(yield* reason(store.flush), "StoreUnavailable")
    }))
}

const day = 86_400_000

const retained = (test: Test) => {
  const at = (number: number, clock: number, text: string) => ({
    ...beat(number),
    entry: { beat: number, clock, text, hash: `hash${number}` },
    receipts: [{ id: `id${number}`, enzyme: "e", beat: number }, { id: `caller${number}`, enzyme: "", beat: number, digest: "d" }]
  })
  const fill = (store: SpaceStore, text: string) =>
    Effect.gen(function*() {
      for (let n = 0; n < 2000; n++) yield* write(store, at(n, n * day / 100, text))
    })
  const kept = (store: SpaceStore) => Array.from(store.scanJournal(0, Infinity), (row) => row.beat)

  test("prunes journal and digests by age, and never the head", () =>
    Effect.gen(function*() {
      const options = { create: true, retention: { journalMillis: 5 * day, receiptMillis: 2 * day } }
      yield* using("shop", (store) => fill(store, "text"), options)
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const beats = kept(store)
          assert.deepStrictEqual(beats, Array.from({ length: beats.length }, (_, i) => 2000 - beats.length + i))
          assert.isAtLeast(beats.length, 500)
          assert.isAtMost(beats.length, 500 + 256)
          assert.isUndefined(store.entry(0))
          assert.deepStrictEqual(store.anchor(), { beat: beats[0]! - 1, hash: `hash${beats[0]! - 1}` })
          const receipts = Array.from({ length: 2000 }, (_, n) => store.receipts(`caller${n}`).length)
          assert.strictEqual(receipts.lastIndexOf(0), receipts.indexOf(1) - 1)
          assert.isAtLeast(2000 - receipts.indexOf(1), 200)
          assert.isAtMost(2000 - receipts.indexOf(1), 200 + 256)
          yield* write(store, at(5000, 5000 * day, "far ahead"))
          for (let n = 5001; n < 5600; n++) yield* write(store, at(n, 5000 * day, "far ahead"))
          assert.strictEqual(kept(store)[0], 5000)
          assert.deepStrictEqual(store.anchor(), { beat: 1999, hash: "hash1999" })
        }), options)
    }))
  test("keeps each receipt without a digest exactly as long as the journal row that it points to", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const often = (beat: number) => ["again", `e${String(beat).padStart(3, "0")}`].map((enzyme) => ({ id: "often", enzyme, beat }))
        for (let n = 0; n < 900; n++) {
          const made = at(n, n * day, "text")
          yield* write(store, { ...made, receipts: [...made.receipts, ...often(n)] })
        }
        const beats = kept(store)
        assert.isAbove(beats[0]!, 0)
        assert.deepStrictEqual(Array.from({ length: 900 }, (_, n) => n).filter((n) => store.receipts(`id${n}`).length > 0), beats)
        assert.deepStrictEqual(store.receipts("often").map(({ beat }) => beat), [899, ...beats])
      }), { create: true, retention: { journalMillis: 10 * day, receiptMillis: day } }))
  test("keeps a receipt with a digest from when it was last written, whatever becomes of the journal and of others", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const step = (n: number, receipts: ReturnType<typeof at>["receipts"]) => write(store, { ...at(n, n * day / 100, "x".repeat(100)), receipts })
        const renewed = { id: "renewed", enzyme: "", beat: 0, digest: "d" }
        yield* step(0, [renewed, { id: "left", enzyme: "", beat: 0, digest: "d" }, { id: "renewed", enzyme: "e", beat: 0 }])
        for (let n = 1; n < 2000; n++) yield* step(n, n === 1000 ? [renewed] : [])
        assert.isUndefined(store.entry(0))
        assert.deepStrictEqual(store.receipts("left"), [])
        assert.deepStrictEqual(store.receipts("renewed"), [renewed])
        for (let n = 2000; n < 3000; n++) yield* step(n, [])
        assert.deepStrictEqual(store.receipts("renewed"), [])
      }), { create: true, retention: { journalBytes: 20_000, receiptMillis: 12 * day } }))
  test("prunes large rows a few at a time", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (let n = 0; n < 8; n++) yield* write(store, at(n, n, "x".repeat(1_500_000)))
        yield* write(store, at(8, 8, "small"))
        assert.isAtMost(kept(store).length, 5)
        assert.isUndefined(store.entry(0))
      }), { create: true, retention: { journalBytes: 3_000_000 } }))
  test("prunes the journal by its characters", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* fill(store, "x".repeat(1000))
        const beats = kept(store)
        assert.isAtLeast(beats.length, 300)
        assert.isAtMost(beats.length, 300 + 256)
        assert.strictEqual(beats.at(-1), 1999)
      }), { create: true, retention: { journalBytes: 300_000 } }))
}

const model = (test: Test) => {
  for (const seed of Trials.seeds(4, { from: 1 })) {
    test(`behaves like plain maps under random work, reopened at random (seed ${seed})`, () => Model.check(seed, 400))
  }
}
