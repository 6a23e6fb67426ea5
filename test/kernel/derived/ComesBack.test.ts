import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect as Fx, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Computation, CurrentReporter, Reaction, Reporter, type Space, type Transaction, type Value } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, put, replays, steps, turns, write } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const number = (value: Value): number => Number(value ?? 0)

/** A computation from one number. */
const from = (name: string, source: string, run: (value: number) => number) =>
  Computation.make({ name, output: `/data/${name}`, run: (tx) => run(number(tx.get(`/data/${source}`))) })

const watch = (name: string, source: string) =>
  Reaction.make({ name: `watch-${name}`, read: (tx) => tx.get(`/data/${source}`), deliver: () => {} })

/** An effect that starts a computation. */
const starter = (tell: (value: Value) => void = () => {}, source = "x") => Reaction.make({
  name: "starter",
  read: (tx) => {
    tx.start(from("child", source, (value) => value + 1))
    return "hello"
  },
  deliver: tell
})

/** A computation that starts another one. */
const parent = (run: (tx: Transaction) => Value = () => 1) => Computation.make({ name: "parent", output: "/data/parent", run: (tx) => {
  tx.start(from("child", "x", (value) => value + 1))
  return run(tx)
} })

const look = (address: string, seen: Array<Value> = []) => enzyme("look", (tx) => void seen.push(tx.get(address)))

const looked = (space: Space) => Fx.andThen(space.signal({ signal: "/signals/look" }), space.step)

/** Checks that a story has the same end with and without a restart of the process. */
const alike = <E>(story: (restart: boolean) => Fx.Effect<unknown, E, Scope.Scope>) => Fx.gen(function*() {
  const stayed = yield* Fx.scoped(story(false))
  assert.deepStrictEqual(yield* Fx.scoped(story(true)), stayed)
})

describe("A node that returns with its space", () => {
  it.effect("may be started by a dormant node, so that its readers still see changes", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, look("/data/parent"), parent(), watch("e", "child")])
      let space = yield* boot
      yield* looked(space)
      yield* write(space, ["/data/x", 1])
      if (restart) space = yield* boot
      yield* write(space, ["/data/x", 2])
      yield* replays(space)
      return yield* space.get("/data/child")
    })))

  /** A node whose child depends on its moment and on a peeked value. */
  const dated = (place: (tx: Transaction) => string) => Computation.make({ name: "dated", output: "/data/dated", run: (tx) => {
    const [born, beat, rate] = [tx.now, tx.beat, tx.peek(place(tx)) ?? null]
    tx.start(Computation.make({ name: "child", output: "/data/child", run: (own) => [number(own.get("/data/x")), born, beat, rate] }))
    return [number(tx.get("/data/kind")), born]
  } })

  it.effect("follows from its creator's moment and peeked values then, in a replay from any beat as well", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, dated(() => "/data/rate"), watch("e", "child"), watch("d", "dated")])
      const began = yield* Clock.currentTimeMillis
      let space = yield* boot
      yield* TestClock.adjust(1000)
      yield* write(space, ["/data/rate", { percent: 7 }], ["/data/x", 1])
      yield* write(space, ["/data/rate", { percent: 9 }], ["/data/kind", 1])
      const born = yield* space.get("/data/child")
      for (let x = 2; x < 5; x++) {
        yield* TestClock.adjust(1000)
        yield* write(space, ["/data/rate", { percent: 10 + x }])
        if (restart) space = yield* boot
        yield* write(space, ["/data/x", x])
      }
      yield* replays(space)
      const [x, moment, ...rest] = (yield* space.get("/data/child")) as ReadonlyArray<Value>
      assert.deepStrictEqual<Value>([moment!, ...rest], (born as ReadonlyArray<Value>).slice(1))
      return [x, number(moment) - began, rest]
    })))

  it.effect("starts over, with a diagnostic, if its creator's peeked values are too large to store", () =>
    Fx.gen(function*() {
      const told: Array<string> = []
      const reporter = new Reporter(({ note, topic }) => void told.push(`${topic} ${note.split(" ")[0]}`))
      yield* Fx.gen(function*() {
        const machine = yield* TestMachine.make
        const boot = machine.boot([put, dated(() => "/data/rate"), watch("e", "child"), watch("d", "dated")])
        const first = yield* boot
        yield* write(first, ["/data/rate", "x".repeat(5000)], ["/data/x", 1])
        yield* write(first, ["/data/kind", 1])
        yield* write(first, ["/data/rate", 3])
        const space = yield* boot
        assert.isEmpty(told)
        yield* write(space, ["/data/other", 1])
        assert.deepStrictEqual(told, ["node/afresh dated"])
        assert.strictEqual(((yield* space.get("/data/child")) as ReadonlyArray<Value>).at(-1), 3)
        yield* replays(space)
      }).pipe(Fx.provideService(CurrentReporter, reporter))
    }).pipe(Fx.scoped))

  it.effect("exists before the first handler reads it", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const seen: Array<Value> = []
      const boot = machine.boot([put, look("/data/child", seen), starter()])
      let space = yield* boot
      yield* write(space, ["/data/x", 1])
      yield* write(space, ["/data/x", 2])
      if (restart) space = yield* boot
      yield* looked(space)
      const first = seen[0]
      yield* replays(space)
      return first
    })))

  it.effect("has seen the changes of the beat before its return", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([
        put, from("w", "x", (value) => value * 10), starter(undefined, "w"), watch("e", "child"), watch("e2", "w")
      ])
      let space = yield* boot
      yield* write(space, ["/data/x", 1])
      if (restart) space = yield* boot
      yield* write(space, ["/data/x", 2])
      yield* steps(space, 3)
      yield* replays(space)
      return [yield* space.get("/data/w"), yield* space.get("/data/child")]
    })))

  it.effect("has seen the capture if a handler's read starts it", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, look("/data/parent"), parent((tx) => number(tx.get("/data/x"))), watch("e", "child")])
      let space = yield* boot
      yield* looked(space)
      yield* write(space, ["/data/x", 1])
      if (restart) space = yield* boot
      yield* space.set("/data/x", 2).pipe(Fx.forkChild({ startImmediately: true }))
      yield* looked(space)
      yield* steps(space, 3)
      yield* replays(space)
      return [yield* space.get("/data/parent"), yield* space.get("/data/child")]
    })))

  it.effect("repeats no delivery: an effect with children runs to start them, and delivers at the next change", () =>
    Fx.gen(function*() {
      const told = (restart: boolean) => Fx.gen(function*() {
        const machine = yield* TestMachine.make
        const seen: Array<Value> = []
        const teller = Reaction.make({ name: "teller", read: (tx) => {
          tx.start(from("child", "x", (value) => value + 1))
          return tx.get("/data/y") ?? null
        }, deliver: (value) => void seen.push(value) })
        const boot = machine.boot([put, teller])
        let space = yield* boot
        yield* write(space, ["/data/y", 1])
        if (restart) space = yield* boot
        yield* steps(space, 2)
        yield* write(space, ["/data/x", 1])
        yield* write(space, ["/data/y", 2])
        if (restart) space = yield* boot
        yield* write(space, ["/data/y", 3])
        yield* turns()
        yield* replays(space)
        return seen
      })
      yield* alike(told)
      assert.deepStrictEqual(yield* Fx.scoped(told(true)), [1, 2, 3])
    }))

  it.effect("ignores the writes of its own group and no others, even in the beat of its return", () =>
    Fx.gen(function*() {
      for (const group of ["editor", "other", undefined]) for (const isAway of [false, true]) yield* alike((restart) => Fx.gen(function*() {
        const machine = yield* TestMachine.make
        const seen: Array<Value> = []
        const editor = Reaction.make({
          name: "editor",
          read: (tx) => tx.get("/data/text"),
          deliver: (value) => void seen.push(value),
          changeGroup: "editor"
        })
        let space = yield* machine.boot([put, editor])
        yield* write(space, ["/data/text", "a"])
        if (restart) space = yield* machine.boot(isAway ? [put] : [put, editor])
        yield* space.set("/data/text", "b", group === undefined ? {} : { group }).pipe(Fx.forkChild({ startImmediately: true }))
        yield* space.step
        if (restart && isAway) space = yield* machine.boot([put, editor])
        yield* steps(space, 2)
        yield* turns()
        return seen
      }))
    }))

  it.effect("repeats no diagnostic: a failed creator fails again on return, without a report", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, parent((tx) => {
        if (number(tx.get("/data/y")) === 1) throw new Error("one is too many")
        return 1
      }), watch("p", "parent"), watch("e", "child")])
      let space = yield* boot
      yield* write(space, ["/data/x", 1])
      yield* write(space, ["/data/y", 1])
      if (restart) space = yield* boot
      yield* steps(space, 2)
      const { length } = yield* TestKernel.diagnostics(space)
      yield* write(space, ["/data/y", 2])
      yield* write(space, ["/data/x", 2])
      yield* replays(space)
      return [length, yield* space.get("/data/child")]
    })))

  it.effect("reports a new failure of a returning creator", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, Reaction.make({ name: "late", read: (tx) => {
        if (number(tx.get("/data/y")) === 1) throw new Error("one is too many")
        return tx.start(from("child", "x", (value) => value + 1))
      }, deliver: () => {}, throttle: 500 })])
      let space = yield* boot
      yield* write(space, ["/data/x", 1])
      yield* write(space, ["/data/y", 1])
      if (restart) space = yield* boot
      yield* TestClock.adjust(1000)
      yield* steps(space, 2)
      yield* replays(space)
      return (yield* TestKernel.diagnostics(space)).map(({ code }) => code)
    })))

  it.effect("takes over nothing of a child that its returning creator drops, so a later child of that name runs anew", () =>
    alike((restart) => Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const boot = machine.boot([put, watch("e", "child"), Reaction.make({ name: "maybe", read: (tx) => {
        const isOff = number(tx.get("/data/off")) === 1
        if (!isOff) tx.start(from("child", "x", (value) => value + 1))
        return isOff
      }, deliver: () => {}, throttle: 500 })])
      let space = yield* boot
      yield* write(space, ["/data/x", 1])
      assert.strictEqual(yield* space.get("/data/child"), 2)
      yield* write(space, ["/data/off", 1])
      if (restart) space = yield* boot
      yield* TestClock.adjust(1000)
      yield* steps(space, 2)
      yield* write(space, ["/data/child", "another writer's"])
      assert.strictEqual(yield* space.get("/data/child"), "another writer's")
      yield* TestClock.adjust(1000)
      yield* write(space, ["/data/off", 0])
      yield* steps(space, 2)
      yield* replays(space)
      return yield* space.get("/data/child")
    })))

  it.effect("runs again if the module that defines it has changed", () =>
    Fx.scoped(Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const modules = (by: number) => [put, watch("e", "child"), { module: Reaction.make({ name: "starter", read: (tx) => {
        tx.start(from("child", "x", (value) => value * by))
        return by
      }, deliver: () => {} }), hash: String(by).repeat(64) }]
      yield* write(yield* machine.boot(modules(2)), ["/data/x", 5])
      const space = yield* machine.boot(modules(3))
      yield* steps(space, 3)
      assert.strictEqual(yield* space.get("/data/child"), 15)
    })))
})
