import { assert, describe, it } from "@effect/vitest"
import { Computation, Effect, Scheduler } from "systole"

const nothing = () => {}

describe("cycles through lists", () => {
  it("come to rest where a folder is listed whose second document stands on the list", () => {
    const scheduler = new Scheduler()
    scheduler.register(Computation.make({ name: "first", output: "/d/1", run: () => 1 }))
    scheduler.register(Computation.make({ name: "second", output: "/d/2", run: (tx) => tx.get("/count") ?? 0 }))
    scheduler.register(Computation.make({ name: "count", output: "/count", run: (tx) => tx.get("/on") === true ? tx.list("/d").length : 0 }))
    scheduler.register(Effect.make({ name: "look", read: (tx) => tx.get("/d/2"), deliver: nothing }))
    scheduler.settle()
    scheduler.set("/on", true)
    scheduler.settle()
    assert.strictEqual(scheduler.pull("/d/2"), 2)
  })

  it("come to rest where siblings list their own folder", () => {
    const scheduler = new Scheduler()
    for (const i of [0, 1, 2]) {
      scheduler.register(Computation.make({ name: `c${i}`, output: `/c/${i}`, run: (tx) => i === 0 ? 1 : tx.list("/c").length + Number(tx.get(`/c/${i - 1}`)) }))
    }
    scheduler.register(Effect.make({ name: "look", read: (tx) => tx.get("/c/2"), deliver: nothing }))
    assert.isEmpty(scheduler.settle().restless)
    assert.strictEqual(scheduler.pull("/c/2"), 7)
  })
})
