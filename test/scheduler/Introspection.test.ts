import { assert, describe, it } from "@effect/vitest"
import type { SpaceScheduler as Engine, Transaction } from "systole"
import { Computation, Materializer, Reaction, SpaceScheduler } from "systole"
import * as Drawing from "../../src/scheduler/view/Drawing.ts"
import * as Introspection from "../../src/scheduler/view/Introspection.ts"
import * as Trace from "../../src/scheduler/view/Trace.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as RandomGraph from "./RandomGraph.ts"

const number = (tx: Transaction, address: string): number => Number(tx.get(address) ?? 0)

/** A graph of a total over two prices, an effect on it, a restless node, a failing node and a dormant node. */
const world = (): Engine => {
  const scheduler = new SpaceScheduler()
  scheduler.register(Computation.make({ name: "sum", output: "/sum", run: (tx) => number(tx, "/a") + number(tx, "/b#/price") }))
  scheduler.register(Reaction.make({ name: "show", read: (tx) => number(tx, "/sum") + number(tx, "/a"), deliver: () => {} }))
  scheduler.register(Materializer.make({ name: "index", writes: ["/index/*"], run: (tx) => tx.set("/index/a", tx.get("/a")) }))
  scheduler.register(Reaction.make({ name: "look", read: (tx) => tx.get("/index/a"), deliver: () => {} }))
  scheduler.register(Computation.make({ name: "tick", output: "/tick", run: (tx) => number(tx, "/tock") + 1 }))
  scheduler.register(Computation.make({ name: "tock", output: "/tock", run: (tx) => number(tx, "/tick") + 1 }))
  scheduler.register(Reaction.make({ name: "clock", read: (tx) => tx.get("/tock"), deliver: () => {} }))
  scheduler.register(Computation.make({ name: "root", output: "/root", run: () => { throw new RangeError("negative") } }))
  scheduler.register(Reaction.make({ name: "roots", read: (tx) => tx.get("/root"), deliver: () => {} }))
  scheduler.register(Computation.make({ name: "idle", output: "/idle", run: (tx) => tx.get("/a") }))
  scheduler.set("/a", 1)
  scheduler.settle(0)
  return scheduler
}

describe("the view of a graph", () => {
  it("shows all edges with their addresses, including materializers and closing edges of cycles", () => {
    const edges = world().view().edges.map(({ address, back, from, to }) => `${from} ${back ? "~>" : "->"} ${to} ${address}`)
    assert.includeMembers(edges, ["sum -> show /sum", "index -> look /index/a", "tock -> clock /tock"])
    assert.strictEqual(edges.filter((edge) => edge.includes("~>")).length, 1)
    assert.lengthOf(edges, 6)
  })

  it("counts nodes by state", () => {
    const { edges, failed, live, neverRan, nodes, restless, runs } = Introspection.stats(world().view())
    assert.deepStrictEqual({ edges, failed, live, neverRan, nodes }, { edges: 6, failed: 1, live: 9, neverRan: 1, nodes: 10 })
    assert.isAbove(restless, 0)
    assert.isAbove(runs, 10)
  })

  it("finds failed, restless, cyclic, delayed and dormant nodes", () => {
    const found = Introspection.diagnose(world().view()).map(({ code, node, reason }) => ({ code, node, reason }))
    const codes = (node: string) => found.filter((finding) => finding.node === node).map(({ code }) => code)
    assert.deepStrictEqual(codes("root"), ["node/failed"])
    assert.include(found.find(({ node }) => node === "root")!.reason, "negative")
    assert.deepStrictEqual(codes("idle"), ["node/dormant"])
    assert.includeMembers([...codes("tick"), ...codes("tock")], ["node/restless", "node/cycle", "node/held"])
    for (const name of ["sum", "show", "index", "look"]) assert.deepStrictEqual(codes(name), [], name)
  })

  it("counts the episodes of a restless node, and names its gate", () => {
    const scheduler = world()
    const restless = () => scheduler.snapshot().find(({ episodes }) => episodes > 0)!
    assert.deepInclude(restless(), { episodes: 1, streak: 1, heldBy: "backoff", eligibleAt: 250 })
    scheduler.settle(250)
    assert.deepInclude(restless(), { episodes: 1, streak: 2 })
  })
})

describe("drawings of a graph", () => {
  const view = world().view()

  it("name every node and join two nodes by one arrow", () => {
    const dot = Drawing.dot(view)
    const mermaid = Drawing.mermaid(view)
    for (const { name } of view.nodes) {
      assert.include(dot, `  "${name}" [`)
      assert.include(mermaid, `"${name}<br/>`)
    }
    assert.lengthOf(dot.match(/ -> /g)!, 6)
    assert.lengthOf(mermaid.match(/ (?:-->|-\.->)\|/g)!, 6)
    assert.match(dot, /"root" \[.*color=red/)
    assert.match(dot, /"idle" \[.*style=dashed/)
  })

  it("escape all names", () => {
    const hostile = { ...view.nodes[0]!, name: `a"]\n<b>\\`, outputs: [] }
    assert.include(Drawing.dot({ nodes: [hostile], edges: [] }), String.raw`"a\"]\n<b>\\" [`)
    assert.include(Drawing.mermaid({ nodes: [hostile], edges: [] }), `n0["a#quot;]<br/>#lt;b#gt;`)
  })
})

describe("a trace", () => {
  it("records the active kinds, and keeps the newest lines", () => {
    const trace = new Trace.Trace()
    trace.add("invalid", { beat: 0, node: "n" })
    assert.deepStrictEqual(trace.get("invalid"), [])
    trace.set(["invalid"])
    for (let beat = 0; beat < 5 * Trace.MAX_LINES; beat++) trace.add("invalid", { beat, node: "n" })
    trace.add("run", { beat: 0, node: "n", in: "pass", causes: [], error: undefined })
    assert.deepStrictEqual(
      [trace.get("invalid").length, trace.get("invalid").at(-1)!.beat, trace.get("run").length],
      [Trace.MAX_LINES, 5 * Trace.MAX_LINES - 1, 0]
    )
    trace.set(["run"])
    assert.deepStrictEqual([trace.active, trace.get("invalid")], [["run"], []])
  })
})

describe("looking at a graph", () => {
  it("changes no run and no order (P10)", () => {
    for (const seed of Trials.seeds(200)) {
      const orders = [false, true].map((isLooking) => {
        const draw = Random.make(seed)
        const look = Random.make(seed + 1)
        const model = RandomGraph.random(draw, { sources: 5, computations: 14 })
        for (let i = 0; i < 3; i++) RandomGraph.watcher(model, draw, `e${i}`)
        const order: Array<string> = []
        model.onRun = ({ name }) => void order.push(name)
        const scheduler = new SpaceScheduler()
        RandomGraph.register(model, scheduler, draw)
        for (let round = 0; round < 12; round++) {
          if (isLooking && look(2) === 0) scheduler.graph.explains = look(2) === 0
          if (isLooking) Introspection.diagnose(scheduler.view())
          RandomGraph.change({ model, draw, features: {} }, scheduler)
          if (isLooking) Drawing.dot(scheduler.view())
          scheduler.settle()
        }
        return order
      })
      assert.deepStrictEqual(orders[1], orders[0], `seed ${seed}`)
    }
  })
})
