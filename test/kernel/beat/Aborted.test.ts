import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Fatal, Reaction, Retry, type Space, type Value } from "systole"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { enzyme, put, register, replays, steps, turns, write } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const number = (value: Value): number => Number(value ?? 0)

/** Reads a place, and then ends with Fatal. */
const die = enzyme("die", (tx, { payload }) => {
  tx.get(String(payload))
  return new Fatal({ reason: "out of order" })
}, { onFatal: "continue" })

const look = (seen: Array<Value>) => enzyme("look", (tx, { payload }) => void seen.push(tx.get(String(payload)) ?? null))

/** Runs a beat that reads a place and is aborted, and the beat that buries its run. */
const aborted = (space: Space, address: string) => Fx.gen(function*() {
  yield* space.signal({ signal: "/signals/die", payload: address })
  yield* Fx.flip(space.step)
  yield* space.step
})

const names = (space: Space) => Fx.map(space.graph.view, ({ nodes }) => nodes.map(({ name }) => name))

/** Nodes that start a varying number of pieces: a computation for each, and an effect that logs its value. */
const parents = (told: Array<Value>) => [0, 1].map((p) => {
  const kids = [0, 1, 2].map((n) => [
    Computation.make({ name: `k${p}-${n}`, output: `/data/k${p}-${n}`, run: (tx) => number(tx.get("/data/s2")) * 10 + n }),
    Reaction.make({ name: `w${p}-${n}`, read: (tx) => [p, n, tx.get(`/data/k${p}-${n}`)], deliver: (value) => void told.push(value) })
  ] as const)
  return Computation.make({ name: `p${p}`, output: `/data/p${p}`, run: (tx) => {
    const count = number(tx.get(`/data/s${p}`))
    for (const [kid, watch] of kids.slice(0, count)) {
      tx.start(kid)
      tx.start(watch)
    }
    return count
  } })
})

/** A space with such nodes, and a log of its deliveries and values. */
const world = Fx.gen(function*() {
  const [told, seen]: [Array<Value>, Array<Value>] = [[], []]
  const machine = yield* TestMachine.make
  return { space: yield* machine.boot([put, die, look(seen), ...parents(told)]), told, seen }
})

describe("An aborted beat", () => {
  it.effect("starts no nodes: an effect that its run started is gone and delivers nothing", () =>
    Fx.gen(function*() {
      const told: Array<Value> = []
      const ghost = Reaction.make({ name: "ghost", read: (tx) => tx.get("/data/y") ?? 0, deliver: (value) => void told.push(value) })
      yield* register(Computation.make({ name: "p", output: "/data/p", run: (tx) => {
        if (number(tx.get("/data/x")) === 2) tx.start(ghost)
        return 1
      } }))
      const space = yield* TestKernel.space([put, die])
      yield* write(space, ["/data/x", 2])
      yield* aborted(space, "/data/p")
      yield* steps(space, 3)
      yield* turns()
      assert.isEmpty(told)
      assert.deepStrictEqual(yield* names(space), ["p"])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("ends no nodes: a piece that its run did not start again stays, and continues", () =>
    Fx.gen(function*() {
      const kid = Computation.make({ name: "kid", output: "/data/kid", run: (tx) => number(tx.get("/data/y")) + 1 })
      yield* register(
        Computation.make({ name: "p", output: "/data/p", run: (tx) => {
          if (number(tx.get("/data/x")) === 1) tx.start(kid)
          return 1
        } }),
        Reaction.make({ name: "e", read: (tx) => tx.get("/data/kid"), deliver: () => {} })
      )
      const space = yield* TestKernel.space([put, die, look([])])
      yield* write(space, ["/data/x", 1])
      yield* space.signal({ signal: "/signals/look", payload: "/data/p" })
      yield* space.step
      yield* write(space, ["/data/x", 2])
      yield* aborted(space, "/data/p")
      yield* write(space, ["/data/y", 5])
      assert.strictEqual(yield* space.get("/data/kid"), 6)
      yield* space.signal({ signal: "/signals/look", payload: "/data/p" })
      yield* space.step
      assert.notInclude(yield* names(space), "kid")
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("makes no computation an effect: a watch started by its run delivers nothing, and the computation still derives", () =>
    Fx.gen(function*() {
      const [told, seen]: [Array<Value>, Array<Value>] = [[], []]
      const derived = Computation.make({ name: "kid", output: "/data/kid", run: (tx) => number(tx.get("/data/y")) + 1 })
      const watched = Reaction.make({ name: "kid", read: (tx) => tx.get("/data/y") ?? 0, deliver: (value) => void told.push(value) })
      yield* register(
        Computation.make({ name: "p", output: "/data/p", run: (tx) => {
          tx.start(number(tx.get("/data/x")) === 2 ? watched : derived)
          return 1
        } }),
        Computation.make({ name: "next", output: "/data/next", run: (tx) => number(tx.get("/data/kid")) + 1 })
      )
      const space = yield* TestKernel.space([put, die, look(seen)])
      const looks = (address: string) => Fx.andThen(space.signal({ signal: "/signals/look", payload: address }), space.step)
      for (const address of ["/data/p", "/data/next"]) yield* looks(address)
      yield* write(space, ["/data/x", 2])
      yield* aborted(space, "/data/p")
      yield* write(space, ["/data/x", 1], ["/data/y", 5])
      yield* looks("/data/next")
      yield* turns()
      assert.isEmpty(told)
      assert.deepStrictEqual(seen, [1, 2, 7])
      const { nodes } = yield* space.graph.view
      assert.deepInclude(nodes.map(({ kind, live, name }) => ({ name, kind, live })), { name: "kid", kind: "computation", live: false })
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("closes no gate: the next handler that reads waits for no throttle and no retry of that beat", () =>
    Fx.gen(function*() {
      const seen: Array<Value> = []
      let isShy = true
      yield* register(
        Computation.make({ name: "slow", output: "/data/slow", throttle: 5000, run: (tx) => number(tx.get("/data/x")) }),
        Computation.make({ name: "shy", output: "/data/shy", run: (tx) => {
          if (isShy) throw new Retry({ reason: "not yet" })
          return number(tx.get("/data/x"))
        } })
      )
      const space = yield* TestKernel.space([put, die, look(seen)])
      yield* write(space, ["/data/x", 1])
      for (const address of ["/data/slow", "/data/shy"]) {
        yield* space.signal({ signal: "/signals/die", payload: address })
        yield* Fx.flip(space.step)
        isShy = false
        yield* space.signal({ signal: "/signals/look", payload: address })
        yield* space.step
      }
      assert.deepStrictEqual(seen, [1, 1])
      yield* TestClock.adjust(5000)
      yield* steps(space, 2)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("I10 leaves the graph of a space that never had the run: the same nodes, deliveries and values", () =>
    Fx.forEach(Trials.seeds(80, { least: 4 }), (seed) =>
      Fx.gen(function*() {
        const draw = Random.make(seed)
        const [one, other] = [yield* world, yield* world]
        for (let move = 0; move < 16; move++) {
          const [parent, source, value] = [`/data/p${draw(2)}`, `/data/s${draw(3)}`, draw(4)]
          const [kind, isCaptured] = [draw(3), draw(2) === 0]
          for (const { space } of [one, other]) {
            if (isCaptured) yield* space.set(source, value).pipe(Fx.forkChild({ startImmediately: true }))
            if (kind === 0) yield* space.signal({ signal: "/signals/put", payload: [[source, value]] })
            if (kind === 1) yield* space.signal({ signal: "/signals/look", payload: parent })
          }
          if (kind === 2) {
            yield* one.space.signal({ signal: "/signals/die", payload: parent })
            yield* Fx.flip(one.space.step)
          }
          for (const { space } of [one, other]) yield* space.step
          yield* turns(2)
          assert.deepStrictEqual(one.told, other.told, `told, seed ${seed}, move ${move}`)
          assert.deepStrictEqual(
            (yield* names(one.space)).toSorted(),
            (yield* names(other.space)).toSorted(),
            `nodes, seed ${seed}, move ${move}`
          )
          assert.deepStrictEqual(one.seen, other.seen, `seen, seed ${seed}, move ${move}`)
        }
      }).pipe(Fx.scoped), { discard: true }))
})
