import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Transaction, Value } from "systole"
import { Computation, Reaction } from "systole"
import { replay } from "../../src/replay/Replay.ts"
import { enzyme, put, register, replaysFromMany, steps, write } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const number = (value: Value): number => Number(value ?? 0)

/** A node that derives a value from a number that its parent gave it. */
const child = (base: number, name = "child"): NodeDefinition =>
  Computation.make({ name, output: `/data/${name}`, run: (tx) => base + number(tx.get("/data/x")) })

/** Starts {@link child} with the value that it reads. */
const start = (tx: Transaction, source = "/data/base"): number => {
  const base = number(tx.get(source))
  if (base < 0) throw new Error("below zero")
  tx.start(child(base))
  return base
}

const watch = (place: string): NodeDefinition =>
  Reaction.make({ name: `watch-${place.slice(6)}`, read: (tx) => tx.get(place), deliver: () => {} })

const look = (place = "/data/child") => enzyme("look", (tx) => void tx.get(place))

/** Runs one beat for each change of these places. */
type Changes = ReadonlyArray<readonly [place: string, value: number]>

const story = Fx.fnUntraced(function*(nodes: ReadonlyArray<NodeDefinition>, changes: Changes, each = 100) {
  yield* register(...nodes)
  const space = yield* TestKernel.space([put, look()])
  for (const change of changes) {
    yield* write(space, change)
    yield* TestClock.adjust(each)
  }
  yield* steps(space, 2)
  return space
})

describe("A replay of child nodes", () => {
  it.effect("shows a handler the child's value of its own read, although the parent has to run", () =>
    Fx.gen(function*() {
      yield* register(Reaction.make({ name: "parent", read: (tx) => start(tx), deliver: () => {} }))
      const space = yield* TestKernel.space([put, look()])
      yield* write(space, ["/data/base", 1])
      yield* steps(space, 2)
      yield* space.set("/data/base", 100).pipe(Fx.forkChild({ startImmediately: true }))
      yield* space.set("/data/x", 5).pipe(Fx.forkChild({ startImmediately: true }))
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("refuses a start whose name or output another node had, and keeps that node", () =>
    Fx.gen(function*() {
      const first = Reaction.make({ name: "first", read: (tx) => start(tx), deliver: () => {} })
      const second = Reaction.make({ name: "second", read: (tx) => {
        tx.start(child(100))
        return tx.get("/data/x") ?? null
      }, deliver: () => {} })
      const third = Reaction.make({ name: "third", read: (tx) => {
        tx.start(Computation.make({ name: "other", output: "/data/child", run: () => 7 }))
        return tx.get("/data/x") ?? null
      }, deliver: () => {} })
      const space = yield* story([first, second, third, watch("/data/child")], [
        ["/data/base", 1], ["/data/x", 1], ["/data/x", 2], ["/data/base", 10], ["/data/x", 3]
      ])
      assert.strictEqual(yield* space.get("/data/child"), 13)
      assert.sameMembers(
        (yield* space.graph.view).nodes.flatMap(({ error, name }) => error?.includes("is refused") === true ? [name] : []),
        ["second", "third"]
      )
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("restores a child's definition while its parent waits", () =>
    Fx.gen(function*() {
      const parent = Reaction.make({ name: "parent", read: (tx) => start(tx), deliver: () => {}, throttle: 500 })
      const space = yield* story([parent, watch("/data/child")], [
        ["/data/base", 1], ["/data/x", 1], ["/data/base", 10], ["/data/x", 2], ["/data/x", 3], ["/data/x", 4], ["/data/x", 5],
        ["/data/x", 6]
      ])
      assert.strictEqual(yield* space.get("/data/child"), 16)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("restores a child's definition while two creators wait in turn", () =>
    Fx.gen(function*() {
      const parents = [0, 1].map((n) => Reaction.make({ name: `parent${n}`, read: (tx) => {
        const base = number(tx.get(`/data/base${n}`))
        tx.start(child(base, `child${n}`))
        return base + number(tx.get(`/data/child${1 - n}`))
      }, deliver: () => {}, throttle: 250 }))
      const changes = Array.from({ length: 24 }, (_, i): readonly [string, number] => [i % 3 === 2 ? `/data/base${i % 2}` : "/data/x", i])
      yield* replaysFromMany(yield* story([...parents, watch("/data/child0"), watch("/data/child1")], changes, 60))
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("restores a child's definition after its parent failed", () =>
    Fx.gen(function*() {
      const parent = Reaction.make({ name: "parent", read: (tx) => start(tx), deliver: () => {} })
      const space = yield* story([parent, watch("/data/child")], [
        ["/data/base", 1], ["/data/x", 1], ["/data/base", -1], ["/data/x", 2], ["/data/x", 3]
      ])
      assert.strictEqual(yield* space.get("/data/child"), 4)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("restores a child's definition while its parent is not demanded", () =>
    Fx.gen(function*() {
      yield* register(Computation.make({ name: "parent", output: "/data/parent", run: (tx) => start(tx) }), watch("/data/child"))
      const space = yield* TestKernel.space([put, look("/data/parent")])
      yield* write(space, ["/data/base", 1])
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      for (let x = 1; x < 4; x++) yield* write(space, ["/data/base", 10 * x], ["/data/x", x])
      assert.strictEqual(yield* space.get("/data/child"), 4)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("restores a child's definition from two creators, one of them a child itself", () =>
    Fx.gen(function*() {
      const parent = (more: number) =>
        Computation.make({ name: "parent", output: "/data/parent", run: (tx) => start(tx, "/data/base") + more })
      const above = Reaction.make({ name: "above", read: (tx) => {
        const more = number(tx.get("/data/more"))
        tx.start(parent(more))
        return more
      }, deliver: () => {}, throttle: 300 })
      const changes = Array.from(
        { length: 16 },
        (_, i): readonly [string, number] => [["/data/x", "/data/base", "/data/more", "/data/x"][i % 4]!, i]
      )
      yield* replaysFromMany(yield* story([above, watch("/data/parent"), watch("/data/child")], changes, 70))
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("uses the creator's definition of the same run, or the earlier one if the creator reads before it starts the child", () =>
    Fx.gen(function*() {
      for (const isFirst of [false, true]) {
        const parent = Reaction.make({ name: "parent", read: (tx) => {
          const base = number(tx.get("/data/base"))
          const isNew = base > 9
          const before = isFirst && isNew ? number(tx.get("/data/child")) : 0
          tx.start(child(base))
          return before + (isNew ? number(tx.get("/data/child")) : 0)
        }, deliver: () => {} })
        yield* Fx.gen(function*() {
          yield* replaysFromMany(yield* story([parent], [
            ["/data/base", 1], ["/data/x", 1], ["/data/base", 10], ["/data/base", 2], ["/data/x", 2], ["/data/base", 12]
          ]))
        }).pipe(Fx.provide(TestKernel.layer()))
      }
    }))

  it.effect("runs a creator isolated once for all children that run meanwhile", () =>
    Fx.gen(function*() {
      /** Starts one child after another, each with the result of the one before. */
      const chain = (tx: Transaction, size: number, make: (i: number, base: number) => NodeDefinition): number => {
        let base = number(tx.get("/data/base"))
        for (let i = 0; i < size; i++) {
          const definition = make(i, base)
          tx.start(definition)
          base = number(tx.get(definition.output!)) + 1
        }
        return base
      }
      const middle = (i: number, base: number): NodeDefinition =>
        Computation.make({ name: `middle${i}`, output: `/data/middle${i}`, run: (tx) => {
          runs++
          return chain(tx, 3, (k, from) => child(from + base, `child${i}-${k}`))
        } })
      let runs = 0
      const counts = Fx.fnUntraced(function*(size: number, make: (i: number, base: number) => NodeDefinition) {
        const parent = Reaction.make({ name: "parent", read: (tx) => {
          runs++
          return chain(tx, size, make)
        }, deliver: () => {} })
        return yield* Fx.gen(function*() {
          const space = yield* story([parent], [["/data/base", 1], ["/data/x", 1], ["/data/base", 5]])
          const live = runs
          const head = yield* space.head
          const { difference, impossible } = yield* space.examine((history) => replay(history, 0, head))
          assert.isUndefined(difference ?? impossible)
          return [live, runs - live] as const
        }).pipe(Fx.provide(TestKernel.layer()), Fx.ensuring(Fx.sync(() => runs = 0)))
      })
      for (const make of [(i: number, base: number) => child(base, `child${i}`), middle]) {
        for (const size of [4, 40]) {
          const [live, replayed] = yield* counts(size, make)
          assert.isAtMost(replayed, 2 * live, `${size}`)
        }
      }
    }))
})
