import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { MemoryStore, replay, type Space } from "systole"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

const bytes = new Uint8Array([1, 2, 3])
const hash = createHash("sha256").update(bytes).digest("hex")

/** One enzyme makes content, one tests whether it exists; both by its digest only. */
const enzymes = [
  TestSpace.enzyme("make", (tx) => tx.blob(bytes)),
  TestSpace.enzyme("look", (tx) => tx.append("/data/seen", (tx.get(`/cas/${hash}`) as Uint8Array | undefined)?.length ?? null)),
  TestSpace.enzyme("lose", (tx, event) => {
    tx.set("/data/ring", event.id)
    tx.blob(bytes)
  })
]

const beat = (space: Space, ...names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    for (const name of names) yield* space.signal({ signal: `/signals/${name}` })
    return yield* space.step
  })

const upload = Effect.fnUntraced(function*(space: Space) {
  const { store, writer } = yield* space.content
  writer.write(bytes)
  yield* store(hash)
})

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { difference } = yield* space.examine((history) => replay(history, from, head))
    assert.isUndefined(difference, `from ${from}: ${JSON.stringify(difference)}`)
  }
})

const persistences = [["memory", MemoryStore.layer], ["SQLite", SqliteFolder.layer]] as const

/** Enough writes to make the store prune. */
const pass = Effect.fnUntraced(function*(space: Space, time: Duration.Input) {
  yield* TestClock.adjust(time)
  for (let i = 0; i < 600; i++) yield* space.step
})

for (const [name, persistence] of persistences) {
  describe(`Content, in ${name}`, () => {
    it.effect("is kept and replayable while a document, a waiting signal or a kept beat names it, and is deleted then", () =>
      Effect.gen(function*() {
        const address = `/cas/${hash}`
        const space = yield* TestKernel.space([...enzymes, TestSpace.enzyme("put", (tx, event) => tx.set("/data/put", event.payload))])
        yield* upload(space)
        yield* space.signal({ signal: "/signals/put", payload: { address }, at: { ms: 40 * 3_600_000 } })
        yield* space.step
        yield* pass(space, "39 hours")
        assert.isDefined(yield* space.blob(hash), "the signal waits")
        yield* pass(space, "10 hours")
        assert.deepStrictEqual(yield* space.get("/data/put"), { address })
        yield* pass(space, "49 hours")
        assert.isDefined(yield* space.blob(hash), "the document has it")
        yield* TestSpace.controlled(space, space.set("/data/put", null))
        yield* beat(space, "look")
        assert.deepStrictEqual(yield* space.get("/data/seen"), [3])
        const { difference, impossible } = yield* space.examine((history) => replay(history, undefined, Infinity))
        assert.deepStrictEqual([difference, impossible], [undefined, undefined])
        for (let i = 0; i < 2; i++) yield* pass(space, "25 hours")
        assert.isUndefined(yield* space.blob(hash))
      }).pipe(Effect.provide(TestKernel.layer({ retention: { journalMillis: 3_600_000 } }, persistence))))
  })
}

for (const [name, persistence] of persistences) {
  describe(`Content without a reference by its address, in ${name}`, () => {
    it.effect("is deleted, and a beat that read it cannot be replayed then", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes)
        yield* upload(space)
        yield* space.step
        yield* pass(space, "23 hours")
        yield* TestClock.adjust("50 minutes")
        yield* beat(space, "look")
        assert.deepStrictEqual(yield* space.get("/data/seen"), [3])
        yield* pass(space, "15 minutes")
        const { difference, impossible } = yield* space.examine((history) => replay(history, undefined, Infinity))
        assert.deepStrictEqual([difference, impossible?.code], [undefined, "replay/content"])
      }).pipe(Effect.provide(TestKernel.layer({ retention: { journalMillis: 3_600_000 } }, persistence))))
  })
}

for (const [name, persistence] of persistences) {
  describe(`Content that is made again, in ${name}`, () => {
    it.effect("was there for a beat that does not name it, also when it is removed since, and made once more", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes)
        const isEqual = Effect.gen(function*() {
          const { difference, impossible } = yield* space.examine((history) => replay(history, undefined, Infinity))
          assert.deepStrictEqual([difference, impossible], [undefined, undefined])
        })
        yield* beat(space, "lose")
        yield* pass(space, "59 minutes")
        yield* beat(space, "lose")
        yield* pass(space, "2 minutes")
        assert.isUndefined(yield* space.blob(hash))
        yield* isEqual
        yield* beat(space, "lose")
        yield* isEqual
      }).pipe(Effect.provide(TestKernel.layer({ retention: { journalMillis: 3_600_000, contentMillis: 1 } }, persistence))))
  })
}

describe("Content that arrived after the last beat of a process", () => {
  it.effect("is dated by the first beat of the next process", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const space = yield* (yield* host.boot()).space("a")
      yield* beat(space, "look")
      yield* upload(space)
      const again = yield* (yield* host.boot()).space("a")
      yield* beat(again, "look")
      yield* beat(again, "look")
      assert.deepStrictEqual(yield* again.get("/data/seen"), [null, 3, 3])
      yield* isReplayedEqual(again)
    }))

  it.effect("is kept while a beat names it", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make([TestSpace.enzyme("put", () => undefined)])
      const retention = { journalMillis: 720 * 3_600_000 }
      const space = yield* (yield* host.boot({ retention })).space("a")
      yield* space.signal({ signal: "/signals/put", payload: { at: `/cas/${hash}` } })
      yield* space.step
      yield* upload(space)
      const again = yield* (yield* host.boot({ retention })).space("a")
      yield* again.step
      yield* pass(again, "25 hours")
      assert.include((yield* again.journal(0))!.text, hash)
      assert.isDefined(yield* again.blob(hash))
    }))
})

for (const [name, persistence] of persistences) {
  describe(`Content that a run makes, in ${name}`, () => {
    it.effect("is absent before its beat in a replay from any beat", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes)
        for (const names of [["look"], ["look", "make"], ["look"], ["make", "look"], ["look"]]) yield* beat(space, ...names)
        assert.deepStrictEqual(yield* space.get("/data/seen"), [null, null, 3, 3, 3])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({}, persistence))))

    it.effect("is dated once, by the first beat that keeps it, in the hashed part of its entry", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes)
        yield* beat(space, "make", "make")
        yield* beat(space, "make", "look")
        const made = yield* Effect.forEach(
          [0, 1],
          (beat) => Effect.map(space.journal(beat), (row) => JSON.parse(row!.text.split("\n")[0]!).made)
        )
        assert.deepStrictEqual(made, [[`/cas/${hash}`], undefined])
      }).pipe(Effect.provide(TestKernel.layer({}, persistence))))

    it.effect("is visible from the recorded beat on in a replay, even if it is also uploaded", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space(enzymes)
        yield* beat(space, "look")
        yield* space.signal({ signal: "/signals/look" })
        yield* space.signal({ signal: "/signals/make" })
        yield* upload(space)
        yield* space.step
        yield* beat(space, "look")
        yield* upload(space)
        yield* beat(space, "look", "make")
        assert.deepStrictEqual(yield* space.get("/data/seen"), [null, 3, 3, 3])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({}, persistence))))

    it.effect("is neither kept nor dated if the run loses a conflict", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([
          ...enzymes,
          TestSpace.enzyme("first", (tx) => tx.set("/data/ring", "first"), { query: "/signals/lose", before: ["lose"] })
        ])
        yield* beat(space, "lose")
        yield* beat(space, "look")
        yield* beat(space, "look")
        assert.deepStrictEqual(yield* space.get("/data/seen"), [null, 3])
        yield* isReplayedEqual(space)
      }).pipe(Effect.provide(TestKernel.layer({}, persistence))))
  })
}
