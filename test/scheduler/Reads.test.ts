import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { Transaction } from "systole"
import { Computation, Document, Link, Materializer, Reaction, Scheduler, SpaceScheduler } from "systole"
import { Draft } from "../../src/stage/Draft.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const nothing = () => {}

/** The empty state below a graph. */
const state = { read: () => undefined, children: () => [], content: () => undefined, holds: false }

describe("reads", () => {
  it("see queued nodes when a pull reaches them by a new read", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/a", 1)
    scheduler.set("/low", 1)
    scheduler.register(Computation.make({ name: "x", output: "/x", run: (tx) => tx.get("/a") }))
    scheduler.register(Computation.make({ name: "y", output: "/y", run: (tx) => Number(tx.get("/x")) + 1 }))
    for (let i = 0; i < 5; i++) {
      const above = i === 0 ? "/low" : `/high/${i - 1}`
      scheduler.register(Computation.make({ name: `high${i}`, output: `/high/${i}`, run: (tx) => tx.get(above) }))
    }
    scheduler.register(
      Computation.make({
        name: "z",
        output: "/z",
        run: (tx) => Number(tx.get("/high/4")) + (tx.get("/both") === true ? Number(tx.get("/y")) * 100 : 0)
      })
    )
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/y"), deliver: nothing }))
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/z"), 1)
    scheduler.set("/a", 5)
    scheduler.set("/both", true)
    assert.strictEqual(scheduler.pull("/z"), 601)
  })

  it("run a new effect without walking its settled sources", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/c/0", 1)
    let walked = 0
    for (let i = 1; i <= 300; i++) {
      scheduler.register(Computation.make({ name: `c${i}`, output: `/c/${i}`, run: (tx) => tx.get(`/c/${i - 1}`) }))
    }
    scheduler.register(Reaction.make({ name: "first", read: (tx) => tx.get("/c/300"), deliver: nothing }))
    scheduler.settle()
    const { graph } = scheduler
    const { writersOf } = graph
    graph.writersOf = (location) => {
      walked++
      return writersOf.call(graph, location)
    }
    scheduler.register(Reaction.make({ name: "second", read: (tx) => tx.get("/c/300"), deliver: nothing }))
    scheduler.settle()
    assert.isBelow(walked, 10)
  })
})

describe("reads through links", () => {
  it.each([
    { at: "where a container was", before: {}, place: "/a#/y", after: Link.make("/b") },
    { at: "deeper, where an empty container was", before: { x: {} }, place: "/a#/x/y", after: { x: Link.make("/b") } },
    { at: "deeper, where nothing was", before: {}, place: "/a#/x/y", after: { x: Link.make("/b") } },
    { at: "deeper, where a leaf was", before: { x: 1 }, place: "/a#/x/y", after: { x: Link.make("/b") } },
    { at: "where one that led nowhere was", before: Link.make("/nowhere"), place: "/a#/y", after: Link.make("/b") }
  ])("follow one that comes $at", ({ after, before, place }) => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/a", before)
    scheduler.set("/b", { y: 5 })
    scheduler.register(Computation.make({ name: "c", output: "/c", run: (tx) => tx.get(place) ?? null }))
    scheduler.register(Reaction.make({ name: "look", read: (tx) => tx.get("/c"), deliver: nothing }))
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/c"), null)
    scheduler.set("/a", after)
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/c"), 5)
  })
})

describe("lists", () => {
  const lister = (folder: string) =>
    Computation.make({ name: "names", output: "/names", run: (tx) => [tx.get("/go") ?? null, ...tx.list(folder)] })

  it("hold all names of a graph in memory, in any order of writes", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(lister("/d"))
    scheduler.set("/d/b", 1)
    scheduler.set("/d/a", 1)
    scheduler.set("/d/a/deeper", 1)
    scheduler.settle()
    scheduler.set("/go", 1)
    assert.deepStrictEqual(scheduler.pull("/names"), [1, "a", "b"])
    scheduler.set("/d/b", undefined)
    scheduler.settle()
    assert.deepStrictEqual(scheduler.pull("/names"), [1, "a"])
  })

  it("hold the top-level names", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(lister("/"))
    scheduler.set("/d", 1)
    assert.deepStrictEqual(scheduler.pull("/names"), [null, "d"])
    scheduler.set("/e", 1)
    assert.deepStrictEqual(scheduler.pull("/names"), [null, "d", "e", "names"])
  })

  it("cost nothing for documents elsewhere, registered before or after", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(lister("/d"))
    const idle = (i: number) => scheduler.register(Computation.make({ name: `idle${i}`, output: `/idle/${i}`, run: () => 1 }))
    idle(0)
    scheduler.set("/d/a", 1)
    scheduler.pull("/names")
    let looks = 0
    const { locations } = scheduler.graph
    locations.values = () => {
      looks++
      return Object.getPrototypeOf(locations).values.call(locations)
    }
    for (let i = 1; i < 10; i++) {
      idle(i)
      scheduler.set("/go", i)
      assert.deepStrictEqual(scheduler.pull("/names"), [i, "a"])
    }
    assert.strictEqual(looks, 0)
  })
})

describe("a run's own writes", () => {
  const keys = ["/m", "/m/a", "/m/b", "/s", "/s/a"]
  const places = [...keys, "/m#/x", "/m/a#/x/y", "/m/b#/x", "/s/a#/x", "/s#/x/y"]
  const value = (draw: Random.Random): unknown =>
    [
      () => draw(3),
      () => ({ x: draw(2) }),
      () => ({ x: { y: draw(2) } }),
      () => [draw(2)],
      () => undefined,
      () => Link.make(Random.pick(draw, places)),
      () => ({ x: Link.make(Random.pick(draw, places)) })
    ][draw(7)]!()

  type Step = (tx: Transaction) => unknown

  /** One operation of a run, the same for each transaction that executes it. */
  const step = (draw: Random.Random): Step => {
    const [place, key, written] = [Random.pick(draw, places), Random.pick(draw, keys), value(draw)]
    return Random.pick<Step>(draw, [
      (tx) => tx.set(place, written),
      (tx) => tx.set(key, written),
      (tx) => tx.get(place),
      (tx) => tx.peek(place),
      (tx) => tx.keys(place),
      (tx) => tx.list(key)
    ])
  }

  const outcome = (step: Step, tx: Transaction): unknown => {
    try {
      return step(tx) ?? null
    } catch (error) {
      return String(error)
    }
  }

  it("read as in a handling: through links, by keys, and in lists", () => {
    for (const seed of Trials.seeds(2000)) {
      const draw = Random.make(seed)
      const documents = new Map<string, Document.Document>()
      const scheduler = new SpaceScheduler()
      for (const key of keys) {
        const initial = value(draw)
        scheduler.set(key, initial)
        if (initial !== undefined) documents.set(key, Document.encode(initial))
      }
      const steps = Array.from({ length: 12 }, () => step(draw))
      const seen: Array<unknown> = []
      const node = Materializer.make({
        name: "m",
        writes: ["/m", "/m/*"],
        run: (tx) => void seen.push(...steps.map((step) => outcome(step, tx)))
      })
      scheduler.register(node)
      scheduler.settle()
      const names = (_: string, id: string) =>
        [...documents.keys()].filter((key) => key.startsWith(`${id}/`)).map((key) => key.slice(id.length + 1)).sort()
      const read = (key: string) => documents.get(key)
      const draft = new Draft(
        { committed: { read, children: names, blob: () => undefined }, visible: read, children: names },
        { beat: 0, semantics: 0, clock: 0, date: 0, tempo: 0, seed: "", hash: () => "" },
        { run: 0, envelope: node.envelope, serializable: false }
      )
      assert.deepStrictEqual(seen, steps.map((step) => outcome(step, draft)), `seed ${seed}`)
    }
  })
})

describe("a place whose last reader leaves while another is about to read it", () => {
  it("still invalidates the new reader: a list of names", () => {
    const scheduler = new SpaceScheduler()
    let seen: unknown
    scheduler.set("/mode", 1)
    scheduler.set("/docs/a", 1)
    scheduler.register(Computation.make({ name: "w", output: "/docs/w", run: (tx) => tx.get("/mode") === 1 ? tx.list("/docs").length : 0 }))
    scheduler.pull("/docs/w")
    scheduler.set("/mode", 2)
    scheduler.register(Reaction.make({ name: "names", read: (tx) => tx.list("/docs").join(), deliver: (names) => void (seen = names) }))
    scheduler.settle()
    scheduler.set("/docs/b", 1)
    scheduler.settle()
    assert.strictEqual(seen, "a,b,w")
  })

  it("still invalidates the new reader: a part of a document that a materializer may write", () => {
    const scheduler = new SpaceScheduler()
    let seen: unknown
    scheduler.set("/mode", 1)
    scheduler.set("/m/doc", { a: 1 })
    scheduler.register(
      Materializer.make({
        name: "m",
        writes: ["/m/**"],
        run: (tx) => tx.set("/m/x", tx.get("/mode") === 1 ? Number(tx.get("/m/doc#/a")) : 0)
      })
    )
    scheduler.settle()
    scheduler.set("/mode", 2)
    scheduler.register(Reaction.make({ name: "a", read: (tx) => tx.get("/m/doc#/a"), deliver: (value) => void (seen = value) }))
    scheduler.settle()
    scheduler.set("/m/doc", { a: 2 })
    scheduler.settle()
    assert.strictEqual(seen, 2)
  })
})

describe("a node's transaction", () => {
  const use = (tx: Transaction | undefined): unknown => {
    try {
      return tx?.get("/a")
    } catch (error) {
      return (error as Error).message
    }
  }

  it("works in its run alone: not after it, nor in a run that it causes, also in another graph of the same layer", () => {
    const graphs = Fx.runSync(Fx.gen(function*() {
      const schedulers = yield* Scheduler
      return [schedulers.make(state), schedulers.make(state)] as const
    }).pipe(Fx.provide(Scheduler.layer())))
    const [scheduler, other] = graphs
    let outer: Transaction | undefined
    const seen: Array<unknown> = []
    for (const graph of graphs) graph.set("/a", 1)
    const inner = (tx: Transaction) => {
      seen.push(use(outer))
      return tx.get("/a")
    }
    scheduler.register(Computation.make({ name: "inner", output: "/inner", run: inner }))
    other.register(Computation.make({ name: "other", output: "/other", run: inner }))
    scheduler.register(Computation.make({
      name: "outer",
      output: "/outer",
      run: (tx) => {
        outer = tx
        const sum = Number(tx.get("/inner")) + Number(other.pull("/other"))
        seen.push(use(tx))
        return sum
      }
    }))
    assert.strictEqual(scheduler.pull("/outer"), 2)
    seen.push(use(outer))
    const over = "The transaction refused: the run is over"
    assert.deepStrictEqual(seen, [over, over, 1, over])
  })

  it("goes on where it was after a run of its own node that it caused", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/a", 1)
    scheduler.set("/b", 1)
    let runs = 0
    scheduler.register(Reaction.make({
      name: "again",
      read: (tx) => {
        const a = tx.get("/a")
        if (++runs === 1) {
          scheduler.set("/a", 2)
          scheduler.settle()
        }
        return [a, tx.get("/b")]
      },
      deliver: nothing
    }))
    scheduler.settle()
    assert.deepStrictEqual(scheduler.view().edges, [])
    assert.deepStrictEqual(scheduler.observation("again")?.reads, [["/a", "deep"], ["/b", "deep"]])
  })
})

describe("deliveries", () => {
  it("continue in order when one of them settles again, once each", () => {
    const scheduler = new SpaceScheduler()
    const told: Array<unknown> = []
    scheduler.set("/a", 1)
    scheduler.register(Reaction.make({
      name: "first",
      read: (tx) => tx.get("/a"),
      deliver: (value) => {
        told.push(["first", value])
        if (value === 1) {
          scheduler.set("/b", 2)
          scheduler.settle()
        }
      }
    }))
    scheduler.register(Reaction.make({ name: "second", read: (tx) => tx.get("/a"), deliver: (value) => void told.push(["second", value]) }))
    scheduler.register(Reaction.make({ name: "third", read: (tx) => tx.get("/b"), deliver: (value) => void told.push(["third", value]) }))
    scheduler.settle()
    assert.deepStrictEqual(told, [["first", 1], ["second", 1], ["third", 2]])
  })
})
