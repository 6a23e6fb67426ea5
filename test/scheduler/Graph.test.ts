import { assert, describe, it } from "@effect/vitest"
import type { Value } from "systole"
import { Address, Computation, Materializer, Reaction, SpaceScheduler } from "systole"

const nothing = () => {}

describe("cycles through lists", () => {
  it("settle when a listed folder's second document depends on the list", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "first", output: "/d/1", run: () => 1 }))
    scheduler.register(Computation.make({ name: "second", output: "/d/2", run: (tx) => tx.get("/count") ?? 0 }))
    scheduler.register(
      Computation.make({ name: "count", output: "/count", run: (tx) => tx.get("/on") === true ? tx.list("/d").length : 0 })
    )
    scheduler.register(Reaction.make({ name: "look", read: (tx) => tx.get("/d/2"), deliver: nothing }))
    scheduler.settle()
    scheduler.set("/on", true)
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/d/2"), 2)
  })

  it("settle when siblings list their own folder", () => {
    const scheduler = new SpaceScheduler()
    for (const i of [0, 1, 2]) {
      scheduler.register(
        Computation.make({
          name: `c${i}`,
          output: `/c/${i}`,
          run: (tx) => i === 0 ? 1 : tx.list("/c").length + Number(tx.get(`/c/${i - 1}`))
        })
      )
    }
    scheduler.register(Reaction.make({ name: "look", read: (tx) => tx.get("/c/2"), deliver: nothing }))
    assert.isEmpty(scheduler.settle().restless)
    assert.strictEqual(scheduler.pull("/c/2"), 7)
  })
})

describe("rings", () => {
  for (const how of ["get", "peek"] as const) {
    it(`never mix two moments: a reader with ${how} starts over if a later read changed an earlier one`, () => {
      const scheduler = new SpaceScheduler()
      const next = (name: string, above: string) =>
        Computation.make({ name, output: `/${name}`, run: (tx) => Math.min(3, Number(tx.get(`/${above}`) ?? 0) + 1) })
      const made: Array<Value> = []
      scheduler.observe(({ node }) => {
        if (node.definition.name === "both") made.push(scheduler.graph.locations.whole(node.output!))
      })
      for (const node of [next("a", "b"), next("b", "a"), next("last", "a")]) scheduler.register(node)
      scheduler.register(Computation.make({ name: "both", output: "/both", run: (tx) => {
        const [first] = [tx[how]("/a"), tx.get("/b"), tx.get("/last")]
        return `${first} ${tx.get("/a")}`
      } }))
      scheduler.pull("/both")
      for (const value of made) assert.match(String(value), /^(\d) \1$/)
      assert.strictEqual(made.at(-1), "3 3")
    })
  }
})

describe("the order of runs", () => {
  it("follows writers and readers again after a cycle is gone", () => {
    const scheduler = new SpaceScheduler()
    const log: Array<readonly [string, number]> = []
    const node = (name: string, other: string, flag: string) =>
      scheduler.register(Computation.make({
        name,
        output: `/${name}`,
        run: (tx) => {
          const value = Number(tx.get("/x"))
          if (tx.get(flag) === true) tx.get(other)
          log.push([name, value])
          return value
        }
      }))
    node("a", "/b", "/a-reads")
    node("b", "/a", "/b-reads")
    scheduler.register(Reaction.make({ name: "look", read: (tx) => [tx.get("/a") ?? null, tx.get("/b") ?? null], deliver: nothing }))
    const set = (place: string, value: boolean | number) => {
      scheduler.set(place, value)
      scheduler.settle()
    }
    set("/x", 0)
    set("/b-reads", true)
    set("/a-reads", true)
    assert.isTrue(scheduler.graph.isCyclic)
    set("/b-reads", false)
    assert.isFalse(scheduler.graph.isCyclic)
    log.length = 0
    set("/x", 5)
    assert.deepStrictEqual(log, [["b", 5], ["a", 5]])
  })

  it("costs no more after nodes alternately read each other", () => {
    const scheduler = new SpaceScheduler()
    const through = (name: string, place: string) =>
      scheduler.register(Computation.make({ name, output: `/${name}`, run: (tx) => tx.get(place) }))
    scheduler.register(Computation.make({ name: "a", output: "/a", run: (tx) => tx.get("/f") === 1 ? tx.get("/from-b") : 1 }))
    scheduler.register(Computation.make({ name: "b", output: "/b", run: (tx) => tx.get("/f") === 1 ? 1 : tx.get("/from-a") }))
    through("from-a", "/a")
    through("from-b", "/b")
    scheduler.register(
      Reaction.make({ name: "look", read: (tx) => [tx.get("/from-a") ?? null, tx.get("/from-b") ?? null], deliver: nothing })
    )
    for (let i = 0; i < 3000; i++) {
      scheduler.set("/f", i % 2)
      scheduler.settle()
    }
    for (const { level, name } of scheduler.snapshot()) assert.isBelow(level, 2000, name)
    assert.strictEqual(scheduler.pull("/from-b"), 1)
  })

  it("puts the readers of a child after it when it waits for its creator", () => {
    const scheduler = new SpaceScheduler()
    const seen: Array<unknown> = []
    const child = Computation.make({ name: "child", output: "/child", run: (tx) => tx.get("/s") })
    for (let i = 0; i < 4; i++) scheduler.register(
      Computation.make({ name: `k${i}`, output: `/k/${i}`, run: (tx) => tx.get(i === 0 ? "/s" : `/k/${i - 1}`) })
    )
    scheduler.register(Reaction.make({
      name: "look",
      read: (tx) => {
        const value = [tx.get("/s"), tx.get("/child")]
        seen.push(value)
        return null
      },
      deliver: nothing
    }))
    scheduler.register(
      Reaction.make({ name: "parent", read: (tx) => [tx.get("/s") ?? null, tx.get("/k/3") ?? null, tx.start(child)], deliver: nothing })
    )
    scheduler.set("/s", 1)
    scheduler.settle()
    seen.length = 0
    scheduler.set("/s", 2)
    scheduler.settle()
    assert.deepStrictEqual(seen, [[2, 2]])
  })
})

describe("a pull", () => {
  it("settles a place that depends on itself through a materializer", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/s", 1)
    scheduler.register(
      Materializer.make({ name: "m", writes: ["/m/*"], run: (tx) => tx.set("/m/x", Math.min(Number(tx.get("/c") ?? 0), 5)) })
    )
    scheduler.register(Computation.make({ name: "c", output: "/c", run: (tx) => Number(tx.get("/s")) + Number(tx.get("/m/x") ?? 0) }))
    assert.strictEqual(scheduler.pull("/c"), 6)
  })
})

describe("a read of a live, settled place", () => {
  /** A watched cell derived from `size` others, optionally with a closed gate or a ring. */
  const wide = (size: number, { gated = false, ring = false } = {}) => {
    const scheduler = new SpaceScheduler()
    const sums = Array.from({ length: size }, (_, i) => `/c/${i}`)
    sums.forEach(
      (output, i) => scheduler.register(Computation.make({ name: `c${i}`, output, run: (tx) => Number(tx.get(`/s/${i % 10}`) ?? 0) }))
    )
    scheduler.register(
      Computation.make({ name: "total", output: "/total", run: (tx) => sums.reduce((sum, cell) => sum + Number(tx.get(cell)), 0) })
    )
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/total"), deliver: nothing }))
    const beside = (name: string, above: string, throttle?: number) => {
      scheduler.register(Computation.make({ name, output: `/${name}`, run: (tx) => Math.min(2, Number(tx.get(above) ?? 0)), throttle }))
      scheduler.register(Reaction.make({ name: `${name}-watch`, read: (tx) => tx.get(`/${name}`), deliver: nothing }))
    }
    if (gated) beside("slow", "/x", 1000)
    if (ring) {
      beside("one", "/two")
      beside("two", "/one")
    }
    scheduler.settle(1)
    scheduler.set("/x", 1)
    scheduler.settle(2)
    assert.strictEqual(scheduler.pull("/total"), 0)
    return scheduler
  }

  for (const [how, options] of [["", {}], [", beside a gate that waits", { gated: true }], [", beside a ring", { ring: true }]] as const) {
    it(`walks no node, regardless of its number of sources${how}`, () => {
      for (const size of [10, 1000]) {
        const scheduler = wide(size, options)
        const before = scheduler.settling.walked
        for (let i = 1; i <= 5; i++) {
          scheduler.set("/elsewhere", i)
          scheduler.settle(2 + i)
          assert.strictEqual(scheduler.pull("/total"), 0)
        }
        assert.strictEqual(scheduler.settling.walked - before, 0, `of ${size}`)
        scheduler.set("/s/3", 1)
        assert.strictEqual(scheduler.pull("/total"), size / 10)
      }
    })
  }

  it("reports an upstream gate from the moment it delays a node", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "slow", output: "/slow", throttle: 1000, run: (tx) => Number(tx.get("/x") ?? 0) }))
    scheduler.register(Computation.make({ name: "next", output: "/next", run: (tx) => Number(tx.get("/slow")) % 2 }))
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/next"), deliver: nothing }))
    scheduler.settle(1)
    const held = () => scheduler.demands.read(Address.parse("/next"), "deep")
    assert.isUndefined(held())
    scheduler.set("/x", 2)
    assert.strictEqual(held(), 1001)
    scheduler.settle(2)
    assert.strictEqual(held(), 1001)
    scheduler.settle(1001)
    assert.isUndefined(held())
  })

  for (const [how, branch] of [["its first run", false], ["a run that reads another branch", true]] as const) {
    it(`reports a gate above it to a node without demand in ${how}`, () => {
      const scheduler = new SpaceScheduler()
      scheduler.register(Computation.make({ name: "slow", output: "/slow", throttle: 1000, run: (tx) => Number(tx.get("/x") ?? 0) }))
      scheduler.register(Computation.make({ name: "next", output: "/next", run: (tx) => Number(tx.get("/slow")) + 1 }))
      scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/next"), deliver: nothing }))
      scheduler.register(Computation.make({
        name: "late",
        output: "/late",
        run: (tx) => tx.get("/which") === "other" ? -1 : Number(tx.get("/next")) + 1
      }))
      const held = () => scheduler.demands.read(Address.parse("/late"), "deep")
      if (branch) {
        scheduler.set("/which", "other")
        assert.isUndefined(held())
      }
      scheduler.settle(1)
      scheduler.set("/x", 5)
      scheduler.settle(2)
      scheduler.set("/which", "next")
      assert.strictEqual(held(), 1001)
      assert.strictEqual(scheduler.pull("/late"), 2)
      scheduler.settle(1001)
      assert.isUndefined(held())
      assert.strictEqual(scheduler.pull("/late"), 7)
    })
  }
})

describe("removed nodes and places", () => {
  it("leave no state, except the ordinals of recent names", () => {
    const scheduler = new SpaceScheduler({ read: () => undefined, children: () => [], content: () => undefined, holds: true })
    const watch = (i: number) => Reaction.make({ name: `watch${i}`, read: (tx) => tx.get(`/a/${i}`), deliver: nothing })
    const names = () => scheduler.snapshot().map(({ name }) => name)
    scheduler.register(watch(0))
    scheduler.register(watch(1))
    scheduler.remove("watch0")
    scheduler.register(watch(0))
    assert.deepStrictEqual(names(), ["watch0", "watch1"])
    scheduler.remove("watch0")
    for (let i = 2; i < 3000; i++) {
      scheduler.register(watch(i))
      scheduler.settle()
      scheduler.remove(`watch${i}`)
    }
    scheduler.register(watch(0))
    assert.deepStrictEqual(names(), ["watch1", "watch0"])
    scheduler.settle()
    assert.isAtMost(scheduler.graph.locations.size, 2)
  })

  it("leave no trace of reads by handlers without derived cells", () => {
    const scheduler = new SpaceScheduler({ read: () => undefined, children: () => [], content: () => undefined, holds: true })
    scheduler.register(Computation.make({ name: "one", output: "/d/one", run: () => 1 }))
    scheduler.register(Materializer.make({ name: "m", writes: ["/m/*"], run: (tx) => tx.set("/m/x", 1) }))
    const { locations } = scheduler.graph
    const { size } = locations
    for (let i = 0; i < 10; i++) {
      scheduler.demands.read(Address.parse(`/x/${i}`), "children")
      scheduler.demands.read(Address.parse(`/x/${i}`), "deep")
    }
    assert.deepStrictEqual([locations.size, locations.listings], [size, 0])
    // The derived cells of the list are up to date as well.
    scheduler.demands.read(Address.parse("/d"), "children")
    scheduler.demands.read(Address.parse("/m"), "children")
    assert.deepStrictEqual(["/d/one", "/m/x"].map((key) => locations.whole(locations.root(key))), [1, 1])
    scheduler.settle()
    assert.strictEqual(locations.listings, 0)
  })
})

describe("materializers", () => {
  it("outside the read place are not consulted, regardless of their number", () => {
    const scheduler = new SpaceScheduler()
    let looks = 0
    for (let i = 0; i < 200; i++) {
      scheduler.set(`/idle/${i}`, i)
      const node = Materializer.make({ name: `m${i}`, writes: [`/m/${i}/*`], run: (tx) => tx.set(`/m/${i}/x`, i) })
      const { envelope } = node
      scheduler.register(Object.defineProperty({ ...node }, "envelope", { get: () => (looks++, envelope) }))
    }
    assert.isBelow(looks, 1000)
    scheduler.settle()
    looks = 0
    for (let i = 0; i < 200; i++) scheduler.demands.read(Address.parse(`/else/${i}`), "deep")
    assert.strictEqual(looks, 0)
    assert.strictEqual(scheduler.pull("/m/7/x"), 7)
    for (let i = 0; i < 200; i++) scheduler.remove(`m${i}`)
    assert.isTrue(scheduler.graph.writerIndex.isEmpty)
    assert.isFalse(scheduler.graph.writerIndex.has(Address.parse("/m/7/x")))
  })
})

describe("a materializer that has to run", () => {
  it("runs before direct readers inside its envelope; an indirect reader that ran for another cause runs again", () => {
    const scheduler = new SpaceScheduler()
    const ran: Array<string> = []
    scheduler.register(Materializer.make({ name: "m", writes: ["/m/*"], run: (tx) => {
      ran.push("m")
      tx.set("/m/x", tx.get("/a"))
    } }))
    scheduler.register(Computation.make({ name: "between", output: "/between", run: (tx) => {
      ran.push("between")
      return tx.get("/m/x")
    } }))
    for (const [name, place] of [["direct", "/m/x"], ["through", "/between"]] as const) {
      scheduler.register(Reaction.make({ name, read: (tx) => {
        ran.push(name)
        return [tx.get("/a"), tx.get(place)]
      }, deliver: () => {} }))
    }
    const runsOf = (a: number) => {
      ran.length = 0
      scheduler.set("/a", a)
      scheduler.settle()
      return ["m", "between", "direct", "through"].map((name) => ran.filter((each) => each === name).length)
    }
    runsOf(1)
    assert.deepStrictEqual(runsOf(2), [1, 1, 1, 1])
    scheduler.remove("direct")
    assert.deepStrictEqual(runsOf(3), [1, 1, 0, 2])
    scheduler.set("/a", 4)
    assert.strictEqual(scheduler.pull("/between"), 4)
  })
})
