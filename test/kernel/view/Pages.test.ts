import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Kernel } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import { turns } from "../TestSpace.ts"
import { limit, lists } from "./AllLists.ts"
import { BAR, counted, filled, Rows } from "./ListedSpace.ts"

describe("A page of any list", () => {
  const rows = new Rows()
  it.effect(`looks at no more than ${BAR} rows between two yields, and the pages have all`, () =>
    Effect.gen(function*() {
      const space = yield* filled
      for (const [name, [list, fewest]] of Object.entries(lists)) {
        rows.most = 0
        const all: Array<string> = []
        for (let after: string | number | undefined; ;) {
          const page = yield* list(space, after)
          all.push(...page.rows.map((row) => JSON.stringify(row)))
          if (page.next === undefined) break
          assert.notStrictEqual(page.next, after, name)
          after = page.next
        }
        assert.isAtMost(rows.most, BAR, name)
        assert.isAtLeast(all.length, fewest, name)
        // A reader sees no id of a signal that another sent.
        if (name !== "waiting of a reader") assert.strictEqual(new Set(all).size, all.length, `${name} shows each once`)
      }
    }).pipe(Effect.provide(counted(rows)), RendezvousSpace.granted))

  it.effect("takes a turn of its own, unless its client is gone by then", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("test")
      // The space comes to rest.
      yield* turns()
      const ask = Effect.forkChild(space.cells("/data", { limit }), { startImmediately: true })
      const asked = yield* Effect.all(Array.from({ length: 10 }, () => ask))
      yield* Effect.forEach(asked.slice(1, 9), (fiber) => Fiber.interrupt(fiber))
      rows.looks = 0
      yield* Fiber.joinAll([asked[0]!, asked[9]!])
      yield* turns(8)
      assert.strictEqual(rows.looks, 2)
    }).pipe(Effect.provide(counted(rows))))
})
