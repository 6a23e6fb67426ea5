import { assert, describe, it } from "@effect/vitest"
import { Computation, Effect, Scheduler } from "systole"

const nothing = () => {}

describe("reads", () => {
  it("see what still waits to run, where a pull comes upon it by a read that is new", () => {
    const scheduler = new Scheduler()
    scheduler.set("/a", 1)
    scheduler.set("/low", 1)
    scheduler.register(Computation.make({ name: "x", output: "/x", run: (tx) => tx.get("/a") }))
    scheduler.register(Computation.make({ name: "y", output: "/y", run: (tx) => Number(tx.get("/x")) + 1 }))
    for (let i = 0; i < 5; i++) {
      const above = i === 0 ? "/low" : `/high/${i - 1}`
      scheduler.register(Computation.make({ name: `high${i}`, output: `/high/${i}`, run: (tx) => tx.get(above) }))
    }
    scheduler.register(Computation.make({ name: "z", output: "/z", run: (tx) => Number(tx.get("/high/4")) + (tx.get("/both") === true ? Number(tx.get("/y")) * 100 : 0) }))
    scheduler.register(Effect.make({ name: "watch", read: (tx) => tx.get("/y"), deliver: nothing }))
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/z"), 1)
    scheduler.set("/a", 5)
    scheduler.set("/both", true)
    assert.strictEqual(scheduler.pull("/z"), 601)
  })

  it("run an effect that is new without walking what is at rest above it", () => {
    const scheduler = new Scheduler()
    scheduler.set("/c/0", 1)
    let walked = 0
    for (let i = 1; i <= 300; i++) {
      scheduler.register(Computation.make({ name: `c${i}`, output: `/c/${i}`, run: (tx) => tx.get(`/c/${i - 1}`) }))
    }
    scheduler.register(Effect.make({ name: "first", read: (tx) => tx.get("/c/300"), deliver: nothing }))
    scheduler.settle()
    const { graph } = scheduler
    const { writersOf } = graph
    graph.writersOf = (location) => {
      walked++
      return writersOf.call(graph, location)
    }
    scheduler.register(Effect.make({ name: "second", read: (tx) => tx.get("/c/300"), deliver: nothing }))
    scheduler.settle()
    assert.isBelow(walked, 10)
  })
})

describe("deliveries", () => {
  it("go on in their order where one of them settles again, and come once", () => {
    const scheduler = new Scheduler()
    const told: Array<unknown> = []
    scheduler.set("/a", 1)
    scheduler.register(Effect.make({
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
    scheduler.register(Effect.make({ name: "second", read: (tx) => tx.get("/a"), deliver: (value) => void told.push(["second", value]) }))
    scheduler.register(Effect.make({ name: "third", read: (tx) => tx.get("/b"), deliver: (value) => void told.push(["third", value]) }))
    scheduler.settle()
    assert.deepStrictEqual(told, [["first", 1], ["second", 1], ["third", 2]])
  })
})
