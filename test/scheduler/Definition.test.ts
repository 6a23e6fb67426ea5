import { assert, describe, it } from "@effect/vitest"
import * as systole from "systole"
import type { NodeDefinition, Transaction, Value } from "systole"
import { Computation, Materializer, Reaction, SpaceScheduler } from "systole"

describe("definitions", () => {
  it("of reactions have the name, too, that texts of modules in older stores import", () => {
    assert.strictEqual(systole.Effect.make, systole.Reaction.make)
  })

  it("name each cell that they write once", () => {
    const run = () => 1
    assert.throws(() => Computation.make({ name: "twice", output: "/a", writes: ["/b", "/a"], run }), "name /a twice")
    assert.throws(() => Computation.make({ name: "twice", output: "/a", writes: ["/b", "/b"], run }), "name /b twice")
    assert.deepStrictEqual(Computation.make({ name: "once", output: "/:x", inputs: ["x", "y"], writes: ["/:y"], run }).writes, ["/:y"])
  })
})

describe("a node", () => {
  it.each<readonly [verb: string, call: (tx: Transaction) => unknown, reason: RegExp]>([
    ["tx.op", (tx) => tx.op, /starts no operations/],
    ["tx.rv", (tx) => tx.rv, /spawns no rendezvous/],
    ["tx.flow", (tx) => tx.flow, /starts no flows/],
    ["tx.io", (tx) => tx.io, /sends no requests/]
  ])("has no ledgers, even if it catches the refusal: %s", (_, call, reason) => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "node", output: "/out", run: (tx) => {
      try {
        call(tx)
      } catch {
        return 1
      }
      return 2
    } }))
    assert.isUndefined(scheduler.pull("/out"))
    assert.match(String(scheduler.takeFailures()[0]?.error), reason)
  })
})

describe("runs that return a promise", () => {
  const waiting = (async (tx: Transaction) => {
    await Promise.resolve()
    return tx.get("/a")
  }) as unknown as (tx: Transaction) => Value
  const refusing = (async (tx: Transaction) => tx.signal({ signal: "/signals/a" })) as unknown as (tx: Transaction) => Value
  const delivered: Array<unknown> = []
  const deliver = (value: unknown) => void delivered.push(value)
  it.each<readonly [kind: string, node: NodeDefinition, reason: RegExp]>([
    ["a computation", Computation.make({ name: "node", output: "/out", run: waiting }), /returned a promise/],
    ["an effect", Reaction.make({ name: "node", read: waiting, deliver }), /returned a promise/],
    ["a materializer", Materializer.make({ name: "node", writes: ["/m"], run: waiting as unknown as () => void }), /returned a promise/],
    ["an effect that is refused something before", Reaction.make({ name: "node", read: refusing, deliver }), /sends no signals/]
  ])("fail, and what becomes of it disturbs nobody: %s", async (_, node, reason) => {
    const rejections: Array<unknown> = []
    const note = (error: unknown) => void rejections.push(error)
    process.on("unhandledRejection", note)
    const scheduler = new SpaceScheduler()
    scheduler.register(node)
    scheduler.settle()
    scheduler.pull("/out")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", note)
    const [failure] = scheduler.takeFailures()
    assert.match(String(failure?.error), reason)
    assert.deepStrictEqual([delivered, rejections], [[], []])
  })
})
