import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { Computation, Kernel, Reaction, type Transaction } from "systole"
import * as RandomGraph from "../../scheduler/RandomGraph.ts"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { enzyme } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const put = enzyme("put", (tx, { payload }) => {
  const [address, value] = payload as readonly [string, number]
  tx.set(address, value)
})
const double = Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/one") ?? 0) * 2 })
const show = Reaction.make({ name: "show", read: (tx) => tx.get("/data/double"), deliver: () => {} })

describe("the graph of a space", () => {
  it.effect("is shown with its statistics, before and after the first beat", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      for (const node of [double, show]) yield* kernel.register(node)
      const space = yield* TestKernel.space([put])
      const before = yield* space.graph.view
      assert.deepStrictEqual(before.nodes.map(({ name, status }) => [name, status]), [["double", "never-ran"], ["show", "never-ran"]])
      yield* space.step
      const { edges, findings, stats } = yield* space.graph.view
      assert.deepStrictEqual(edges, [{ from: "double", to: "show", address: "/data/double", back: false }])
      assert.deepInclude(stats, { nodes: 2, edges: 1, live: 2, clean: 2, runs: 2 })
      assert.deepStrictEqual(findings, [])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("is the same after a restart", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      yield* (yield* machine.boot([double, show])).step
      const { nodes } = yield* (yield* machine.boot([double, show])).graph.view
      assert.deepStrictEqual(
        nodes.map(({ name, reads, status }) => [name, status, reads]),
        [["double", "clean", ["/data/one"]], ["show", "clean", ["/data/double"]]]
      )
    }))

  it.effect("is traced by kind: runs with causes, invalidations and passes", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const either = { ...double, run: (tx: Transaction) => Number(tx.get("/data/one") ?? 0) * 2 + Number(tx.get("/data/two") ?? 0) }
      for (const node of [either, show]) yield* kernel.register(node)
      const space = yield* TestKernel.space([put])
      yield* space.step
      yield* space.graph.trace(["run", "pass"])
      yield* space.signal({ signal: "/signals/put", payload: ["/data/one", 4] })
      yield* space.step
      yield* space.graph.trace(["run", "pass", "invalid"])
      yield* space.signal({ signal: "/signals/put", payload: ["/data/two", 5] })
      yield* space.step
      const { invalid, pass, run } = yield* space.graph.traces
      const lines = (beat: number, changed: string) => [
        { beat, node: "double", in: "pass", causes: [changed], error: undefined },
        { beat, node: "show", in: "pass", causes: ["/data/double"], error: undefined }
      ]
      assert.deepStrictEqual(run, [...lines(1, "/data/one"), ...lines(2, "/data/two")] as never)
      assert.deepStrictEqual(pass, [1, 2].map((beat) => ({ beat, runs: 2, invalid: 2, restless: [] })))
      assert.deepStrictEqual(invalid, [{ beat: 2, node: "double" }, { beat: 2, node: "show" }])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("makes the same journal to the byte with and without views and traces (P10)", () =>
    Fx.forEach(Trials.seeds(40), (seed) =>
      Fx.gen(function*() {
        const journal = (isLooking: boolean) => Fx.gen(function*() {
          const draw = Random.make(seed)
          const look = Random.make(seed + 1)
          const model = RandomGraph.random(draw, { sources: 4, computations: 10 })
          for (let i = 0; i < 2; i++) RandomGraph.watcher(model, draw, `e${i}`)
          const kernel = yield* Kernel
          for (const spec of model.specs.values()) yield* kernel.register(model.define(spec))
          const space = yield* TestKernel.space([put])
          for (let round = 0; round < 8; round++) {
            if (isLooking) {
              yield* space.graph.trace((["run", "invalid", "pass"] as const).filter(() => look(2) === 0))
              yield* space.graph.view
              yield* space.graph.traces
              yield* space.debug.breakAt([...model.specs.keys()].filter(() => look(3) === 0))
            }
            for (let i = draw(3); i >= 0; i--) yield* space.signal({
              signal: "/signals/put",
              payload: [`/s/${draw(4)}`, RandomGraph.someValue(draw) ?? null]
            })
            yield* space.step
          }
          const rows = []
          for (let beat = 0; beat < 8; beat++) rows.push((yield* space.journal(beat))!.text)
          return rows
        }).pipe(Fx.provide(TestKernel.layer()))
        assert.deepStrictEqual(yield* journal(true), yield* journal(false), `seed ${seed}`)
      }), { discard: true }))
})
