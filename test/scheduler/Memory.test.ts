import { assert, describe, it } from "@effect/vitest"
import { Computation, Reaction, SpaceScheduler } from "systole"
import type { Document } from "../../src/cell/Document.ts"
import { LOADED } from "../../src/scheduler/graph/Flag.ts"
import { clear } from "../../src/scheduler/graph/Locations.ts"

const LIMIT = 2000

/** A graph over external state, and the commit of its changes. */
const world = () => {
  const held = new Map<string, Document>()
  let reads = 0
  const read = (key: string) => (reads++, held.get(key))
  const scheduler = new SpaceScheduler({ read, children: () => [], content: () => undefined, holds: true })
  const { locations } = scheduler.graph
  const commit = () => {
    for (const root of locations.changed.slice(0, locations.changes)) {
      const document = locations.document(root)
      if (document === undefined) held.delete(root.key)
      else held.set(root.key, document)
    }
    locations.settled(LIMIT)
  }
  const resident = () => [...locations.values()].filter(({ flags }) => (flags & LOADED) !== 0).length
  return { scheduler, commit, resident, reads: () => reads, pass: () => scheduler.settling.settle() }
}

describe("a reused list", () => {
  it("keeps its capacity without items, up to a bound", () => {
    const list = (count: number): Array<unknown> => {
      const list = Array.from<unknown>({ length: count }).fill("held")
      clear(list, count)
      return list
    }
    assert.isTrue(list(257).length === 257 && list(257).every((item) => item === undefined))
    assert.isTrue(list(65_536).length === 65_536 && list(65_536).every((item) => item === undefined))
    assert.lengthOf(list(65_537), 0)
  })
})

describe("Memory of the scheduler", () => {
  it("is freed beyond its limit, of derived, absent and loaded documents, without a visible effect", () => {
    const { commit, pass, reads, resident, scheduler } = world()
    for (let i = 0; i < 20; i++) {
      scheduler.register(
        Computation.make({
          name: `c${i}`,
          output: `/c/${i}`,
          run: (tx) => `${tx.get("/x") ?? 0} ${String(tx.get(`/absent/${i}`) ?? "")} ${"long ".repeat(20)}`
        })
      )
    }
    let seen: ReadonlyArray<unknown> = []
    scheduler.register(
      Reaction.make({
        name: "e",
        read: (tx) => seen = Array.from({ length: 20 }, (_, i) => tx.get(`/c/${i}`) as string),
        deliver: () => {}
      })
    )
    pass()
    assert.isAbove(resident(), 40)
    commit()
    assert.strictEqual(resident(), 0)
    const before = reads()
    scheduler.set("/x", 1)
    pass()
    commit()
    assert.isAbove(reads(), before)
    assert.match(String(seen[19]), /^1 /)
    assert.isBelow(resident(), 20)
  })

  it("holds none of the reads that the last run of a node left out", () => {
    const { commit, pass, scheduler } = world()
    const sum = Computation.make({
      name: "sum",
      output: "/sum",
      run: (tx) => Array.from({ length: Number(tx.get("/many") ?? 0) }, (_, i) => Number(tx.get(`/p/${i}`) ?? 0)).length
    })
    scheduler.register(sum)
    scheduler.register(Reaction.make({ name: "e", read: (tx) => tx.get("/sum"), deliver: () => {} }))
    for (const many of [100, 0]) {
      scheduler.set("/many", many)
      pass()
      commit()
    }
    assert.propertyVal(scheduler.registry.get("sum")?.run, "cursor", undefined)
  })

  it("keeps documents within the limit", () => {
    const { commit, pass, resident, scheduler } = world()
    scheduler.register(Computation.make({ name: "c", output: "/c", run: (tx) => Number(tx.get("/x") ?? 0) }))
    scheduler.register(Reaction.make({ name: "e", read: (tx) => tx.get("/c"), deliver: () => {} }))
    for (let x = 0; x < 100; x++) {
      scheduler.set("/x", x)
      pass()
      commit()
      assert.strictEqual(resident(), 2)
    }
  })
})
