import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Space, Transaction, Value } from "systole"
import { Computation, Reaction, Retry } from "systole"
import * as TestMachine from "../TestMachine.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, register, replays, turns } from "../TestSpace.ts"

const labels = { cells: { "/data/secret/**": ["secret"] }, declassify: {} }
const declassifying = { cells: { ...labels.cells, "/data/other/**": ["other"] }, declassify: { open: ["secret"] } }
const number = (value: Value): number => Number(value ?? 0)

/** Reads derived cells after a secret, and stores their values under its label. */
const look = enzyme("look", (tx) => {
  tx.get("/data/secret/a")
  tx.set("/data/secret/seen", [tx.get("/data/above") ?? null, tx.list("/data")])
  return tx.get("/data/open") ?? null
})

const gates = {
  throttle: { throttle: 1000 },
  debounce: { debounce: 300 },
  backoff: { run: (tx: Parameters<Computation.ComputationDefinition["run"]>[0]) => {
    const x = number(tx.get("/data/x"))
    if (x === 2) throw new Retry({ reason: "not yet" })
    return x
  } }
}

const open = (more: Partial<Computation.ComputationDefinition>): ReadonlyArray<NodeDefinition> => [
  Computation.make({ name: "open", output: "/data/open", run: (tx) => number(tx.get("/data/x")), ...more }),
  Computation.make({ name: "above", output: "/data/above", run: (tx) => number(tx.get("/data/open")) * 10 })
]

/** The answer to a reader without clearance within a beat and a millisecond. */
const asked = Fx.fnUntraced(function*(space: Space, address: string) {
  const fiber = yield* Fx.forkChild(
    Fx.result(space.reader({ name: "web", atoms: [] }).get(address, { wait: 1 })),
    { startImmediately: true }
  )
  yield* space.step
  yield* turns(1)
  yield* TestClock.adjust(1)
  const answer = yield* Fiber.join(fiber)
  return answer._tag === "Success" ? answer.success : `${answer.failure.code} ${answer.failure.message}`
})

/** The answers to the reader about a node, with and without an earlier read by a handling that knows a secret. */
const told = (nodes: ReadonlyArray<NodeDefinition>, isLooked: boolean) =>
  Fx.gen(function*() {
    yield* register(...nodes)
    const space = yield* TestKernel.space([look])
    const seen: Array<unknown> = []
    const looked: Array<unknown> = []
    for (const x of [1, 2, 3]) {
      yield* controlled(space, space.set("/data/x", x))
      if (isLooked) yield* space.signal({ signal: "/signals/look", id: `look-${x}` })
      yield* space.step
      looked.push(yield* space.get("/data/secret/seen"))
      seen.push(
        yield* space.reader({ name: "web", atoms: [] }).list("/data"),
        yield* asked(space, "/data/open"),
        yield* asked(space, "/data/above")
      )
      yield* TestClock.adjust(600)
    }
    yield* replays(space)
    return { seen, looked }
  }).pipe(Fx.provide(TestKernel.layer({ labels })))

describe("A handling that knows a secret", () => {
  for (const [name, more] of Object.entries(gates)) {
    it.effect(`moves no gate by reading a derived cell: ${name}`, () =>
      Fx.gen(function*() {
        const [without, within] = [yield* told(open(more), false), yield* told(open(more), true)]
        assert.deepStrictEqual(within.seen, without.seen)
        assert.isTrue(without.seen.some((answer) => String(answer).startsWith("cell/held")) || name === "debounce")
      }))
  }

  it.effect("sees current derived values, whatever a gate delays, and alone", () =>
    Fx.gen(function*() {
      const { looked } = yield* told(open({ throttle: 1000 }), true)
      assert.deepStrictEqual(looked.map((seen) => (seen as ReadonlyArray<unknown>)[0]), [10, 20, 30])
    }))
})

const isTold = (tx: Transaction): boolean => number(tx.get("/data/secret/a")) === 1

/** A computation above, beside the effect that demands it. */
const sum = (run: (tx: Transaction) => Value, more: Partial<Computation.ComputationDefinition> = {}) =>
  Computation.make({ name: "sum", output: "/data/secret/sum", run, ...more })

const looker = (read: (tx: Transaction) => Value) => Reaction.make({ name: "looker", read, deliver: () => {} })

/** Nodes with the higher label that read derived cells depending on a secret. */
const nosy: ReadonlyArray<readonly [name: string, nodes: ReadonlyArray<NodeDefinition>]> = [
  ["an effect", [
    looker((tx) => isTold(tx) ? [tx.get("/data/above") ?? null, tx.list("/data")] : 0)
  ]],
  ["a computation that an effect demands", [
    sum((tx) => isTold(tx) ? number(tx.get("/data/above")) : 0),
    looker((tx) => tx.get("/data/secret/sum"))
  ]],
  ["a computation that says what it reads", [
    sum((tx) => isTold(tx) ? number(tx.get("/data/above")) : 0, { reads: ["/data/above"] }),
    looker((tx) => isTold(tx) ? tx.get("/data/secret/sum") : 0)
  ]],
  ["a computation that one starts and that says what it reads", [
    looker((tx) => isTold(tx) ? tx.start(sum((inner) => number(inner.get("/data/above")), { reads: ["/data/above"] })) : "")
  ]],
  ["a computation that peeks", [
    sum((tx) => isTold(tx) ? number(tx.get("/data/x")) + number(tx.peek("/data/above")) : 0),
    looker((tx) => tx.get("/data/secret/sum"))
  ]]
]

/** The answers to a reader of a gated node, with and without reads by nodes above. */
const beside = (definitions: ReadonlyArray<NodeDefinition>, secret: number) =>
  Fx.gen(function*() {
    yield* register(...definitions)
    const space = yield* TestKernel.space([])
    const seen: Array<unknown> = []
    const sums: Array<unknown> = []
    yield* controlled(space, space.set("/data/secret/a", secret))
    for (const x of [1, 2, 3]) {
      yield* controlled(space, space.set("/data/x", x))
      yield* space.step
      sums.push(yield* space.get("/data/secret/sum"))
      seen.push(yield* space.reader({ name: "web", atoms: [] }).list("/data"))
      seen.push(yield* asked(space, "/data/open"), yield* asked(space, "/data/above"))
      yield* TestClock.adjust(600)
    }
    yield* replays(space)
    return { seen, sums }
  }).pipe(Fx.provide(TestKernel.layer({ labels })))

describe("A node that knows a secret", () => {
  for (const [who, definitions] of nosy) {
    for (const [name, more] of Object.entries(gates)) {
      it.effect(`moves no gate below: ${who}, ${name}`, () =>
        Fx.gen(function*() {
          const [without, within] = [yield* beside([...open(more), ...definitions], 0), yield* beside([...open(more), ...definitions], 1)]
          assert.deepStrictEqual(within.seen, without.seen)
        }))
    }
  }

  it.effect("reads a declassified value, though not the sources", () =>
    Fx.gen(function*() {
      const declassified = Computation.make({ name: "open", output: "/data/open", throttle: 1000, run: (tx) => tx.get("/data/secret/a") })
      const other = Computation.make({ name: "other", output: "/data/other/sum", run: (tx) => number(tx.get("/data/open")) * 10 })
      yield* register(declassified, other, looker((tx) => tx.get("/data/other/sum")))
      const space = yield* TestKernel.space([])
      for (const a of [1, 2, 3]) {
        yield* controlled(space, space.set("/data/secret/a", a))
        yield* space.step
        assert.strictEqual(yield* space.get("/data/other/sum"), a * 10)
      }
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer({ labels: declassifying }))))

  it.effect("runs for changes below after a restart", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      let runs = 0
      const above = sum((tx) => {
        runs++
        return number(tx.get("/data/above"))
      })
      const modules = [...open({ throttle: 1000 }), above, looker((tx) => tx.get("/data/secret/sum"))]
      const seen: Array<unknown> = []
      for (const x of [1, 2, 3]) {
        const space = yield* machine.boot(modules, { labels })
        yield* space.step
        const before = runs
        yield* space.step
        assert.strictEqual(runs, before)
        yield* controlled(space, space.set("/data/x", x))
        yield* space.step
        seen.push(yield* space.get("/data/secret/sum"))
      }
      assert.deepStrictEqual(seen, [10, 20, 30])
    }).pipe(Fx.scoped))

  it.effect("looks anew at a place that it reads again and again, once a node below derives that", () =>
    Fx.gen(function*() {
      yield* register(sum((tx) => number(tx.get("/data/above"))), looker((tx) => tx.get("/data/secret/sum")))
      const space = yield* TestKernel.space([])
      const seen: Array<unknown> = []
      const show = Fx.fnUntraced(function*(address: string, value: number) {
        yield* controlled(space, space.set(address, value))
        yield* space.step
        seen.push(yield* space.get("/data/secret/sum"))
      })
      for (const x of [1, 2]) yield* show("/data/above", x)
      yield* register(...open({ throttle: 1000 }))
      for (const x of [3, 4, 5]) yield* show("/data/x", x)
      assert.deepStrictEqual(seen, [1, 2, 30, 40, 50])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer({ labels }))))

  it.effect("reads current derived values below, whatever a gate delays", () =>
    Fx.gen(function*() {
      const above = [sum((tx) => number(tx.get("/data/above"))), looker((tx) => tx.get("/data/secret/sum"))]
      const { sums } = yield* beside([...open({ throttle: 1000 }), ...above], 1)
      assert.deepStrictEqual(sums, [10, 20, 30])
    }))
})
