import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Stream } from "effect"
import { createHash } from "node:crypto"
import * as Document from "../../../src/cell/Document.ts"
import { MAX_MISSED, MAX_WAITING } from "../../../src/kernel/view/CatchUp.ts"
import type { Observation } from "../../../src/kernel/view/Space.ts"
import { textOf } from "../../../src/kernel/view/Observed.ts"
import type { Value } from "../../../src/cell/Value.ts"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

/** Collects the values of a stream from now on. */
const gather = Effect.fn("gather")(function*<A, E>(stream: Stream.Stream<A, E>) {
  const seen: Array<A> = []
  const fiber = yield* Effect.forkChild(
    Stream.runForEach(stream, (value) => Effect.sync(() => void seen.push(value))), { startImmediately: true }
  )
  yield* turns()
  return { seen, fiber }
})

describe("watching an address", () => {
  it.effect("shows its value now, and again after each beat that changes it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("set", (tx, { payload }) => tx.set("/data/x", payload))])
      yield* controlled(space, space.set("/data/x", 0))
      const { seen } = yield* gather(space.watch("/data/x"))
      for (const payload of [1, 1, 2]) {
        yield* space.signal({ signal: "/signals/set", payload })
        yield* space.step
      }
      yield* controlled(space, space.set("/data/x", undefined))
      yield* turns()
      assert.deepStrictEqual(seen, [{ beat: 0, value: 0 }, { beat: 1, value: 1 }, { beat: 3, value: 2 }, { beat: 4, value: undefined }])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("inside a document gets no changes beside its place", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const { seen } = yield* gather(space.watch("/data/x#/a"))
      yield* controlled(space, space.set("/data/x", { a: 1, b: 1 }))
      yield* controlled(space, space.set("/data/x#/b", 2))
      yield* controlled(space, space.set("/data/x#/a", { deep: true }))
      yield* turns()
      assert.deepStrictEqual(seen, [{ beat: -1, value: undefined }, { beat: 0, value: 1 }, { beat: 2, value: { deep: true } }])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reads what several missed once, and again after the next beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      for (const value of [0, 1]) yield* controlled(space, space.set("/data/x", value))
      const returned = () => Effect.map(gather(space.watch("/data/x", { after: 0 })), ({ seen }) => seen)
      const [first, second] = [yield* returned(), yield* returned()]
      assert.deepStrictEqual(first, [{ beat: 1, value: 1 }])
      assert.strictEqual(first[0], second[0])
      yield* controlled(space, space.set("/data/x", 2))
      assert.deepStrictEqual(yield* returned(), [{ beat: 1, value: 1 }, { beat: 2, value: 2 }])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("gives each that returns a mutable value of its own", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      for (const value of [1, 2]) yield* controlled(space, space.set("/data/x", new Set([value]) as never))
      const returned = () => Effect.map(gather(space.watch("/data/x", { after: 0 })), ({ seen }) => seen[0]?.value as unknown)
      const first = yield* returned()
      assert.deepStrictEqual(first, new Set([2]))
      if (first instanceof Set) first.add(3)
      assert.deepStrictEqual(yield* returned(), new Set([2]))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("serves each subscriber, and none that has left", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const first = yield* gather(space.watch("/data/x"))
      const second = yield* gather(space.watch("/data/x"))
      yield* controlled(space, space.set("/data/x", 1))
      yield* turns()
      yield* Fiber.interrupt(first.fiber)
      yield* controlled(space, space.set("/data/x", 2))
      yield* turns()
      assert.deepStrictEqual(first.seen.map(({ value }) => value), [undefined, 1])
      assert.deepStrictEqual(second.seen.map(({ value }) => value), [undefined, 1, 2])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("continues after the last seen beat, with each later value once", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([])
      for (const value of [1, 1, 2, undefined, 3]) yield* controlled(before, before.set("/data/x", value))
      yield* controlled(before, before.set("/data/xy", 9))
      const space = yield* machine.boot([])
      const cases: Array<[number, Array<Value>]> = [[-1, [1, 2, undefined, 3, 4]], [0, [2, undefined, 3, 4]], [3, [3, 4]], [5, [4]]]
      for (const [after, values] of cases) {
        const { fiber, seen } = yield* gather(space.watch("/data/x", { after }))
        if (after === -1) yield* controlled(space, space.set("/data/x", 4))
        yield* turns()
        assert.deepStrictEqual(seen.map(({ value }) => value), values)
        assert.isTrue(seen.every(({ missed }) => missed === undefined))
        yield* Fiber.interrupt(fiber)
      }
    }))

  it.effect("continues inside a document, without changes beside its place", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      for (
        const value of [{ a: 1 }, { a: 1, b: 1 }, { a: new Set([1]), b: 1 }, "flat"]
      ) yield* controlled(space, space.set("/data/x", value))
      const { seen } = yield* gather(space.watch("/data/x#/a", { after: -1 }))
      const plain = seen.map(({ beat, value }) => ({ beat, value }))
      assert.deepStrictEqual(plain, [{ beat: 0, value: 1 }, { beat: 2, value: new Set([1]) as never }, { beat: 3, value: undefined }])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("continues like one that never stopped, after any interruption", () =>
    Effect.gen(function*() {
      const draw = Random.make(41)
      const space = yield* TestKernel.space([])
      const steady = yield* gather(space.watch("/data/x#/a"))
      const broken: Array<Observation> = []
      let reading = yield* gather(space.watch("/data/x#/a"))
      for (let i = 0; i < 120; i++) {
        if (draw(3) === 0) {
          yield* Fiber.interrupt(reading.fiber)
          broken.push(...reading.seen)
          for (let missed = draw(4); missed > 0; missed--) yield* controlled(
            space, space.set(`/data/${draw(3) === 0 ? "y" : "x"}`, { a: draw(3), b: draw(3) })
          )
          reading = yield* gather(space.watch("/data/x#/a", { after: broken.at(-1)?.beat }))
        }
        yield* controlled(space, space.set("/data/x", { a: draw(3), b: draw(3) }))
        yield* turns(2)
      }
      assert.deepStrictEqual([...broken, ...reading.seen], steady.seen)
      assert.isAbove(steady.seen.length, 50)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reports when it cannot continue, and starts over", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", 1))
      const ahead = yield* gather(space.watch("/data/x", { after: 7 }))
      assert.deepStrictEqual(ahead.seen, [{ beat: 0, value: 1, missed: "beat 7 is not in this space, whose newest is 0" }])
      for (let i = 0; i < 300; i++) yield* controlled(space, space.set("/data/y", "y".repeat(100)))
      const pruned = yield* gather(space.watch("/data/x", { after: 0 }))
      assert.lengthOf(pruned.seen, 1)
      assert.match(pruned.seen[0]!.missed!, /^the journal is pruned up to beat \d+$/)
      assert.deepInclude(pruned.seen[0], { beat: 300, value: 1 })
      const recent = yield* gather(space.watch("/data/x", { after: 299 }))
      assert.deepStrictEqual(recent.seen, [])
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 20_000 } }))))

  it.effect("reports a subscriber that lags, and starts over with the newest value; a stream of beats drops the oldest", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const latch = yield* Latch.make(false)
      const seen: Array<Observation> = []
      const beats: Array<number> = []
      const slowly = <A, E>(stream: Stream.Stream<A, E>, into: Array<A>) =>
        Effect.forkChild(
          Stream.runForEach(stream, (value) => Effect.andThen(Latch.await(latch), Effect.sync(() => void into.push(value)))),
          { startImmediately: true }
        )
      yield* slowly(space.watch("/data/x"), seen)
      yield* slowly(space.beats, beats)
      yield* turns()
      const last = MAX_MISSED + 10
      for (let i = 0; i <= last; i++) yield* controlled(space, space.set("/data/x", i))
      yield* Latch.open(latch)
      yield* turns()
      const count = (from: number) => Array.from({ length: last - from + 1 }, (_, i) => from + i)
      assert.deepStrictEqual(seen.map(({ value }) => value), [undefined, ...count(MAX_MISSED)])
      assert.deepStrictEqual(seen.flatMap(({ missed }, i) => missed === undefined ? [] : [i]), [1])
      assert.deepStrictEqual(beats, [0, ...count(last - MAX_MISSED + 1)])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("gives all subscribers of an address one observation, with the stored text", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const [one, two, inside] = yield* Effect.forEach(["/data/x", "/data/x", "/data/x#/a"], (address) => gather(space.watch(address)))
      for (const value of [{ a: 1n, b: 1 }, { a: 1n, b: 2 }]) yield* controlled(space, space.set("/data/x", value))
      assert.strictEqual(one!.seen.length, 3)
      for (const i of [1, 2]) assert.strictEqual(one!.seen[i], two!.seen[i])
      assert.deepStrictEqual(inside!.seen.map(({ value }) => value), [undefined, 1n])
      assert.strictEqual(textOf(one!.seen[2]!), Document.encode({ a: 1n, b: 2 }).text)
      assert.strictEqual(textOf(inside!.seen[1]!), Document.encode(1n).text)
      assert.strictEqual(textOf(inside!.seen[0]!), "null")
      yield* controlled(space, space.set("/data/x", new Map([["a", 1]])))
      ;(one!.seen.at(-1)!.value as Map<string, number>).set("a", 2)
      assert.deepStrictEqual(two!.seen.at(-1)!.value, new Map([["a", 1]]))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("gives a slow subscriber of a large value the newest one only", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const latch = yield* Latch.make(false)
      const seen: Array<Observation> = []
      yield* Effect.forkChild(
        Stream.runForEach(space.watch("/data/x"), (value) => Effect.andThen(Latch.await(latch), Effect.sync(() => void seen.push(value)))),
        { startImmediately: true }
      )
      yield* turns()
      const large = (i: number) => [i, "x".repeat(100_000)]
      for (let i = 0; i < 10; i++) yield* controlled(space, space.set("/data/x", large(i)))
      yield* Latch.open(latch)
      yield* turns()
      assert.isAtMost(seen.reduce((sum, observation) => sum + textOf(observation).length, 0), MAX_WAITING + 4)
      assert.deepStrictEqual(seen.at(-1)?.value, large(9))
      assert.isDefined(seen.find(({ missed }) => missed !== undefined))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("fails for an invalid address", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(space.watch("nope")))).code, "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("shows durable values only", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([])
      const { seen } = yield* gather(space.watch("/data/x"))
      yield* machine.hold
      const set = yield* Effect.forkChild(controlled(space, space.set("/data/x", 1)), { startImmediately: true })
      yield* machine.held
      yield* turns()
      assert.lengthOf(seen, 1)
      yield* machine.release
      yield* Fiber.join(set)
      yield* turns()
      assert.deepStrictEqual(seen.at(-1), { beat: 0, value: 1 })
    }))
})

describe("the beats of a space", () => {
  it.effect("are published in order as they become durable, including empty ones", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const { seen } = yield* gather(space.beats)
      yield* steps(space, 3)
      yield* turns()
      assert.deepStrictEqual(seen, [0, 1, 2])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("content from outside", () => {
  it.effect("is stored in parts, durable when answered, and readable by runs", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const hash = "c".repeat(64)
      const read = enzyme("read", (tx) => (tx.get(`/cas/${hash}`) as Uint8Array).length)
      const before = yield* machine.boot([read])
      const { store, writer } = yield* before.content
      writer.write(new Uint8Array([1, 2]))
      writer.write(new Uint8Array([3]))
      yield* store(hash)
      const after = yield* machine.boot([read])
      assert.deepStrictEqual(yield* after.blob(hash), new Uint8Array([1, 2, 3]))
      const { id } = yield* after.signal({ signal: "/signals/read" })
      yield* after.step
      assert.strictEqual((yield* after.receipt(id))?.handlings[0]?.value, 3)
    }))

  it.effect("that a run keeps is committed with its beat", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const keep = enzyme("keep", (tx, { payload }) => {
        const address = tx.blob(payload as Uint8Array)
        if (tx.beat === 1) throw new Error("no")
        return address
      })
      const space = yield* machine.boot([keep])
      const [good, bad] = [new Uint8Array([1]), new Uint8Array([2])]
      for (const payload of [good, bad]) yield* space.signal({ signal: "/signals/keep", payload })
      yield* steps(space, 2)
      const after = yield* machine.boot([keep])
      const address = (yield* after.receipt("x.0.0"))?.handlings[0]?.value as string
      assert.deepStrictEqual(yield* after.get(address), good)
      assert.lengthOf((yield* after.receipt("x.0.1"))!.handlings, 1)
      assert.strictEqual(yield* after.blob(createHash("sha256").update(bad).digest("hex")), undefined)
    }))
})
