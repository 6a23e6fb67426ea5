import { assert, describe, it } from "@effect/vitest"
import type { Transaction } from "systole"
import { Computation, Reaction, SpaceScheduler } from "systole"

const nothing = () => {}

const look = (name: string, place: string) => Reaction.make({ name, read: (tx) => tx.get(place), deliver: nothing })

/** Names of the nodes that read a place. */
const readers = ({ graph }: SpaceScheduler, key: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  const first = graph.locations.known(key)?.firstReader
  for (let edge = first; edge !== undefined; edge = edge.nextReader) names.push(edge.reader.definition.name)
  return names
}

describe("a node dropped by its creator", () => {
  /** A computation that starts another one as long as /s is 1. */
  const world = (run: (tx: Transaction) => number) => {
    const scheduler = new SpaceScheduler()
    const child = Computation.make({ name: "child", output: "/child", run })
    scheduler.register(Computation.make({
      name: "parent",
      output: "/parent",
      run: (tx) => {
        if (tx.get("/s") === 1) tx.start(child)
        return tx.get("/s")
      }
    }))
    scheduler.set("/s", 1)
    return scheduler
  }

  it("is discarded even while it runs, and other runs continue", () => {
    const scheduler = world((tx) => {
      const sum = tx.get("/s") === 1 ? 0 : Number(tx.get("/parent")) + 10
      tx.get("/z")
      return sum
    })
    scheduler.register(look("keeper", "/parent"))
    scheduler.register(look("look", "/child"))
    scheduler.settle()
    scheduler.remove("keeper")
    scheduler.set("/s", 2)
    scheduler.settle()
    assert.deepStrictEqual(scheduler.snapshot().map(({ name, status }) => [name, status]), [["parent", "clean"], ["look", "clean"]])
    assert.strictEqual(scheduler.pull("/child"), 0)
    assert.deepStrictEqual(readers(scheduler, "/s"), ["parent"])
    const other = new SpaceScheduler()
    other.register(Computation.make({ name: "one", output: "/one", run: () => 1 }))
    assert.strictEqual(other.pull("/one"), 1)
  })

  it("is dropped by the next run that does not start it, after an undo brought it back", () => {
    const scheduler = world(() => 1)
    scheduler.register(look("keeper", "/parent"))
    scheduler.settle()
    const names = () => scheduler.snapshot().map(({ name }) => name).toSorted()
    const before = new Map(
      ["/s", "/parent", "/child"].map((key) => [key, scheduler.graph.locations.document(scheduler.graph.locations.root(key))])
    )
    scheduler.graph.noted = scheduler.undo
    for (const s of [2, 3]) {
      scheduler.set("/s", s)
      scheduler.settling.settle()
    }
    scheduler.undo.revert((key) => before.get(key))
    assert.deepStrictEqual(names(), ["child", "keeper", "parent"])
    scheduler.set("/s", 4)
    scheduler.settle()
    assert.deepStrictEqual(names(), ["keeper", "parent"])
  })

  it("no longer runs when a read reaches both", () => {
    let runs = 0
    const scheduler = world((tx) => {
      runs++
      return Number(tx.get("/s")) + Number(tx.get("/parent"))
    })
    assert.strictEqual(scheduler.pull("/parent"), 1)
    assert.strictEqual(scheduler.pull("/child"), 2)
    scheduler.set("/s", 2)
    assert.strictEqual(scheduler.pull("/child"), 2)
    assert.strictEqual(runs, 1)
    assert.deepStrictEqual(readers(scheduler, "/s"), ["parent"])
  })
})

describe("a node that is started again", () => {
  it("derives from its creator's current input", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/base", 1)
    scheduler.set("/v", 1)
    scheduler.register(Reaction.make({
      name: "parent",
      read: (tx) => {
        const base = Number(tx.get("/base"))
        return tx.start(Computation.make({ name: "child", output: "/out", run: (tx) => base + Number(tx.get("/v")) }))
      },
      deliver: nothing
    }))
    scheduler.register(look("look", "/out"))
    scheduler.settle()
    scheduler.set("/base", 100)
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/out"), 101)
  })

  it("derives another cell if its creator changes the output, and no longer the old one", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/k", "a")
    scheduler.set("/v", 1)
    scheduler.register(Reaction.make({
      name: "parent",
      read: (tx) => {
        const place = `/out/${String(tx.get("/k"))}`
        tx.start(Computation.make({ name: "child", output: place, run: (tx) => tx.get("/v") }))
        return tx.get(place)
      },
      deliver: nothing
    }))
    scheduler.settle()
    scheduler.set("/k", "b")
    scheduler.set("/v", 2)
    scheduler.settle()
    scheduler.set("/v", 3)
    scheduler.settle()
    assert.deepStrictEqual([scheduler.pull("/out/a"), scheduler.pull("/out/b")], [2, 3])
    assert.strictEqual(scheduler.snapshot().length, 2)
  })

  it("keeps its name against other creators", () => {
    const scheduler = new SpaceScheduler()
    const child = Computation.make({ name: "child", output: "/child", run: () => 1 })
    scheduler.register(Reaction.make({ name: "parent", read: (tx) => tx.start(child), deliver: nothing }))
    scheduler.settle()
    assert.throws(() => scheduler.register(child), "started by \"parent\"")
  })

  it("and its creator run in some order when two creators read each other's children", () => {
    const scheduler = new SpaceScheduler()
    for (const i of [0, 1]) {
      scheduler.register(Reaction.make({
        name: `parent${i}`,
        read: (tx) => {
          const base = Number(tx.get(`/base/${i}`) ?? 0)
          tx.start(Computation.make({ name: `child${i}`, output: `/child/${i}`, run: (tx) => base + Number(tx.get("/x") ?? 0) }))
          return base + Number(tx.get(`/child/${1 - i}`) ?? 0)
        },
        deliver: nothing
      }))
      scheduler.register(look(`look${i}`, `/child/${i}`))
    }
    scheduler.settle()
    for (let x = 1; x < 4; x++) {
      for (const place of ["/x", "/base/0", "/base/1"]) scheduler.set(place, x)
      scheduler.settle()
      assert.deepStrictEqual([scheduler.pull("/child/0"), scheduler.pull("/child/1")], [2 * x, 2 * x])
    }
  })
})

describe("a pull of a reader whose source is started meanwhile", () => {
  const world = (base: () => number) => {
    const scheduler = new SpaceScheduler()
    scheduler.register(
      Computation.make({ name: "sum", output: "/sum", run: (tx) => Number(tx.get("/child") ?? 0) + Number(tx.get("/parent")) })
    )
    scheduler.register(Computation.make({
      name: "parent",
      output: "/parent",
      run: (tx) => {
        tx.get("/s")
        const more = base()
        tx.start(Computation.make({ name: "child", output: "/child", run: () => more }))
        return 1
      }
    }))
    return scheduler
  }

  it("finds it up to date", () => {
    assert.strictEqual(world(() => 10).pull("/sum"), 11)
  })

  it("finds it up to date although the reader may run once only, because of its throttle", () => {
    const scheduler = world(() => 10)
    scheduler.register(Computation.make({
      name: "slow",
      output: "/slow",
      throttle: 1000,
      run: (tx) => Number(tx.get("/child") ?? 0) + Number(tx.get("/parent"))
    }))
    scheduler.register(look("look", "/slow"))
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/slow"), 11)
  })

  it("finds it up to date if it is started again with another definition", () => {
    let base = 10
    const scheduler = world(() => base)
    scheduler.pull("/sum")
    base = 20
    scheduler.set("/s", 1)
    scheduler.register(Computation.make({ name: "all", output: "/all", run: (tx) => tx.get("/sum") }))
    assert.strictEqual(scheduler.pull("/all"), 21)
  })
})
