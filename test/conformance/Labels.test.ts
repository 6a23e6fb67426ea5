import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { Computation, Kernel, Reaction, Retry, why } from "systole"
import { controlled, enzyme, handlingOf, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"

const labels = {
  cells: { "/data/secret/**": ["salary"], "/data/health/**": ["health"], "/data/both/**": ["salary", "health"] },
  declassify: {}
}
const layer = TestKernel.layer({ labels })

/** The labels of an event's handlings, by enzyme. */
const learned = (space: Parameters<typeof controlled>[0], id: string) =>
  Fx.map(space.receipt(id), (receipt) => Object.fromEntries(present(receipt).handlings.map(({ enzyme, label }) => [enzyme, label ?? []])))

describe("M: labels", () => {
  it.effect("M18 a retry keeps the label of the previous attempt, after a failure and after a conflict, until success or exhaustion", () =>
    Fx.gen(function*() {
      const retried = enzyme("retried", (tx, { attempt, payload }) => {
        if (payload === "again" && attempt === 1) return new Retry({ reason: `not with ${tx.get("/data/secret/a")}` })
        if (payload === "never") return new Retry({ reason: `not with ${tx.get("/data/secret/a")}` })
        return attempt
      }, { retry: { attempts: 2 } })
      let tries = 0
      const contended = { query: "/signals/contend" }
      const first = enzyme("first", (tx) => tx.set("/data/secret/turn", "first"), contended)
      const second = enzyme("second", (tx) => {
        if (tries++ === 0) tx.set("/data/secret/turn", "second")
      }, contended)
      const space = yield* TestKernel.space([retried, first, second])
      yield* controlled(space, space.set("/data/secret/a", 1))
      const of = (payload: string) => Fx.gen(function*() {
        const { id } = yield* space.signal({ signal: "/signals/retried", payload })
        yield* steps(space, 4)
        return yield* handlingOf(space, id)
      })
      assert.deepInclude(yield* of("again"), { attempt: 2, outcome: "ok", label: ["salary"] })
      assert.notProperty(yield* of("once"), "label")
      assert.deepInclude(yield* of("never"), { attempt: 2, outcome: "dead", label: ["salary"] })
      assert.notProperty(yield* of("once"), "label")
      const { id } = yield* space.signal({ signal: "/signals/contend" })
      yield* steps(space, 2)
      assert.strictEqual(tries, 2)
      assert.deepStrictEqual(yield* learned(space, id), { first: ["salary"], second: ["salary"] })
    }).pipe(Fx.provide(layer)))

  it.effect("M19 an update for a handling adds no label beyond its own reads", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({
        name: "secret",
        output: "/data/secret/sum",
        run: (tx) => Number(tx.get("/data/secret/a")) + Number(tx.get("/data/open"))
      }))
      yield* kernel.register(Computation.make({ name: "open", output: "/data/total", run: (tx) => Number(tx.get("/data/open")) * 2 }))
      const asks = enzyme("asks", (tx) => tx.get("/data/total"), { reads: ["/data/secret/sum"] })
      const knows = enzyme("knows", (tx) => tx.get("/data/secret/sum"))
      const space = yield* TestKernel.space([asks, knows])
      yield* Fx.all([controlled(space, space.set("/data/secret/a", 5)), controlled(space, space.set("/data/open", 1))])
      const asking = (yield* space.signal({ signal: "/signals/asks" })).id
      const knowing = (yield* space.signal({ signal: "/signals/knows" })).id
      const beat = yield* space.step
      assert.include(present(yield* space.journal(beat)).text, `"nodes":[["`)
      assert.deepStrictEqual(yield* learned(space, asking), { asks: [] })
      assert.deepStrictEqual(yield* learned(space, knowing), { knows: ["salary"] })
      assert.deepInclude(present(yield* space.receipt(asking)).handlings[0], { value: 2 })
    }).pipe(Fx.provide(layer)))

  it.effect("M20 each run of a node carries its node and causes, in the pass and before a handling, and the journal names the writer", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({
        name: "sum",
        output: "/data/sum",
        run: (tx) => Number(tx.get("/data/a") ?? 0) + Number(tx.get("/data/b") ?? 0)
      }))
      yield* kernel.register(Computation.make({ name: "names", output: "/data/names", run: (tx) => tx.list("/data/items").length }))
      yield* kernel.register(Reaction.make({ name: "show", read: (tx) => [tx.get("/data/sum"), tx.get("/data/names")], deliver: () => {} }))
      const put = enzyme("put", (tx, { payload }) => {
        for (const address of payload as ReadonlyArray<string>) tx.set(address, tx.beat)
      })
      const look = enzyme("look", (tx) => tx.get("/data/sum"))
      const space = yield* TestKernel.space([put, look])
      yield* space.graph.trace(["run"])
      const sent = (...addresses: ReadonlyArray<string>) =>
        Fx.andThen(space.signal({ signal: "/signals/put", payload: [...addresses] }), space.step)
      yield* space.step
      const both = yield* sent("/data/a", "/data/b", "/data/unread")
      const item = yield* sent("/data/items/x")
      // Captured before a handling that reads it: it runs in the gate, and for its reader in the pass.
      yield* space.signal({ signal: "/signals/look" })
      yield* controlled(space, space.set("/data/a", 70))
      const { run } = yield* space.graph.traces
      const told = run.map(({ beat, causes, in: place, node }) => [beat, place, node, [...causes].sort()])
      assert.deepStrictEqual(told, [
        [0, "pass", "sum", []],
        [0, "pass", "names", []],
        [0, "pass", "show", []],
        [both, "pass", "sum", ["/data/a", "/data/b"]],
        [both, "pass", "show", ["/data/sum"]],
        [item, "pass", "names", ["/data/items/*"]],
        [item, "pass", "show", ["/data/names"]],
        [item + 1, "gate", "sum", ["/data/a"]],
        [item + 1, "pass", "show", ["/data/sum"]]
      ])
      for (const beat of [both, item]) {
        const { text } = present(yield* space.journal(beat))
        const lines = (JSON.parse(present(text.split("\n")[0])) as { readonly nodes: ReadonlyArray<readonly [name: string]> }).nodes
        assert.deepStrictEqual(lines.map(([name]) => name), told.filter(([at]) => at === beat).map(([, , node]) => node))
      }
      const reason = yield* space.examine((archive) => why(archive, "/data/sum"))
      assert.deepStrictEqual([reason?.beat, reason?.writers.map(({ by }) => by)], [item + 1, ["sum"]])
    }).pipe(Fx.provide(TestKernel.layer())))
})
