import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Link } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const demand = TestKernel.layer({ pace: "demand" })

describe("a cell set from outside", () => {
  it.effect("is written by the next beat, before any run, and visible to all of them", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("read", (tx) => tx.get("/data/x"))])
      const event = yield* space.signal({ signal: "/signals/read" })
      const answer = yield* controlled(space, space.set("/data/x", { a: [1] }))
      assert.strictEqual(answer._tag === "Success" && answer.success, 0)
      assert.deepStrictEqual((yield* space.receipt(event.id))?.handlings[0]?.value, { a: [1] })
      assert.deepStrictEqual(yield* space.get("/data/x#/a/0"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is in conflict with no run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("add", (tx) => tx.increment("/data/n", 5)),
        enzyme("set", (tx) => tx.set("/data/m", 2))
      ])
      yield* space.signal({ signal: "/signals/add" })
      yield* space.signal({ signal: "/signals/set" })
      yield* Effect.forkChild(space.set("/data/m", 1), { startImmediately: true })
      yield* controlled(space, space.set("/data/n", 10))
      assert.deepStrictEqual([yield* space.get("/data/n"), yield* space.get("/data/m")], [15, 2])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("may be several, written in order of arrival", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      for (const n of [1, 2, 3]) yield* Effect.forkChild(space.set("/data/x", n), { startImmediately: true })
      yield* controlled(space, space.set("/data/y#/deep/er", true))
      assert.strictEqual(yield* space.get("/data/x"), 3)
      assert.deepStrictEqual(yield* space.get("/data/y"), { deep: { er: true } })
      yield* controlled(space, space.set("/data/x", undefined))
      assert.deepStrictEqual(yield* space.list("/data"), ["y"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is written at the target of a link; a link value replaces the link", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/l", Link.make("/data/x")))
      yield* controlled(space, space.set("/data/l", 1))
      assert.strictEqual(yield* space.get("/data/x"), 1)
      yield* controlled(space, space.set("/data/l", Link.make("/data/y")))
      assert.deepStrictEqual([yield* space.get("/data/x"), yield* space.get("/data/l")], [1, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is refused at once for an invalid address, an invalid value, or a cell of the runtime", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      assert.strictEqual((yield* Effect.flip(space.set("data", 1))).code, "address/invalid")
      assert.strictEqual((yield* Effect.flip(space.set("/data/x", () => 1))).code, "value/invalid")
      for (const cell of ["/rt/x", "/sys/x", "/data/mailbox/diag/msgs/1", "/cas/x"]) {
        assert.strictEqual((yield* Effect.flip(space.set(cell, 1))).code, "cell/refused", cell)
      }
      assert.strictEqual(yield* space.head, -1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is refused by the beat if it does not fit the document, and the others are written", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", "text"))
      const good = yield* Effect.forkChild(space.set("/data/y", 1), { startImmediately: true })
      const answer = yield* controlled(space, space.set("/data/x#/a", 1))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "value/invalid")
      assert.strictEqual(yield* Fiber.join(good), 1)
      assert.deepStrictEqual([yield* space.get("/data/x"), yield* space.get("/data/y")], ["text", 1])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a binding from outside", () => {
  it.effect("holds from its own beat on, for cells below, until it is withdrawn", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("x", (tx, { target }) => tx.increment(`${target}/n`))])
      const post = space.signal({ signal: "/signals/x", target: "/data/a/b" })
      yield* post
      yield* controlled(space, space.bind("/data/a", "x"))
      assert.strictEqual(yield* space.get("/data/a/b/n"), 1)
      yield* post
      yield* controlled(space, space.unbind("/data/a/b", "x"))
      assert.strictEqual(yield* space.get("/data/a/b/n"), 1)
      yield* space.signal({ signal: "/signals/x", target: "/data/a/c" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/a/c/n"), 1)
      assert.deepStrictEqual(yield* space.get("/sys/bind/data/a/b"), [{ beat: 1, enzyme: "x", propagate: true, tombstone: true }])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("may be limited to its cell", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("x", (tx, { target }) => tx.increment(`${target}/n`))])
      yield* controlled(space, space.bind("/data/a", "x", { propagate: false }))
      for (const target of ["/data/a", "/data/a/b"]) yield* space.signal({ signal: "/signals/x", target })
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* space.get("/data/a/n"), yield* space.get("/data/a/b/n")], [1, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("made by a run holds from the next beat on, and survives a restart", () =>
    Effect.gen(function*() {
      const enzymes = [enzyme("x", (tx) => tx.increment("/data/n")), enzyme("start", (tx) => {
        tx.bind("/data/a", "x")
        tx.signal({ signal: "/signals/x", target: "/data/a" })
      })]
      const machine = yield* TestMachine.make
      const before = yield* machine.boot(enzymes)
      yield* before.signal({ signal: "/signals/x", target: "/data/a" })
      yield* before.signal({ signal: "/signals/start" })
      yield* before.step
      assert.strictEqual(yield* before.get("/data/n"), undefined)
      const after = yield* machine.boot(enzymes)
      yield* after.step
      assert.strictEqual(yield* after.get("/data/n"), 1)
    }))

  it.effect("is refused for an invalid cell or an unknown enzyme", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      assert.strictEqual((yield* Effect.flip(space.bind("data", "x"))).code, "address/invalid")
      assert.strictEqual((yield* Effect.flip(space.bind("/data", "a/b"))).code, "cell/refused")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("control input during a waiting beat", () => {
  it.effect("fails when the space stops, as all other waiting calls do", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([enzyme("slow", () => new Promise(() => undefined))])
      yield* space.signal({ signal: "/signals/slow" })
      const calls = [space.set("/data/x", 1), space.step, space.handled({ signal: "/signals/slow", payload: 1 }), space.idle]
      const told = yield* Effect.forEach(calls, (effect) =>
        Effect.forkChild(Effect.flip(effect as Effect.Effect<unknown, { readonly code: string }>), { startImmediately: true }))
      yield* turns()
      machine.breakDisk(true)
      yield* Effect.flip(space.signal({ signal: "/signals/other" }))
      // A caller of idle fails when the time limit of the run is over.
      yield* TestClock.adjust(1000)
      for (const fiber of told) assert.strictEqual((yield* Fiber.join(fiber)).code, "space/stopped")
    }))
})

describe("idle", () => {
  it.effect("on demand ends when all consequences of the posted signals are done", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("chain", (tx, { payload }) => {
        tx.increment("/data/n")
        if ((payload as number) > 0) tx.signal({ signal: "/signals/chain", payload: (payload as number) - 1 })
      })])
      yield* space.signal({ signal: "/signals/chain", payload: 200 })
      yield* space.idle
      assert.strictEqual(yield* space.get("/data/n"), 201)
      assert.strictEqual(yield* space.head, 200)
    }).pipe(Effect.provide(demand)))

  it.effect("by hand ends when the steps have left no work", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("a", (tx) => tx.signal({ signal: "/signals/b" })), enzyme("b", () => undefined)])
      yield* space.idle
      yield* space.signal({ signal: "/signals/a" })
      const idle = yield* Effect.forkChild(space.idle, { startImmediately: true })
      yield* space.step
      yield* turns()
      assert.isUndefined(idle.pollUnsafe())
      yield* space.step
      yield* Fiber.join(idle)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("waits for a waiting run", () =>
    Effect.gen(function*() {
      let release: () => void = () => undefined
      const space = yield* TestKernel.space([enzyme("slow", () => new Promise<void>((resolve) => { release = resolve }))])
      yield* Effect.forkChild(space.handled({ signal: "/signals/slow" }), { startImmediately: true })
      yield* turns()
      const idle = yield* Effect.forkChild(space.idle, { startImmediately: true })
      yield* turns()
      assert.isUndefined(idle.pollUnsafe())
      release()
      yield* Fiber.join(idle)
      assert.strictEqual(yield* space.head, 0)
    }).pipe(Effect.provide(demand)))

  it.effect("is free: a space without input runs no beat", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([enzyme("a", () => undefined)], { pace: "demand", tempo: 100 })
      yield* space.handled({ signal: "/signals/a" })
      const flushes = machine.flushes()
      yield* TestClock.adjust("1 hour")
      yield* turns()
      assert.strictEqual(yield* space.head, 0)
      assert.strictEqual(machine.flushes(), flushes)
    }))
})
