import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Kernel } from "systole"
import { turns } from "../TestSpace.ts"
import { limit, lists } from "./AllLists.ts"
import { counted, Rows } from "./ListedSpace.ts"

/** The names of the spaces are more than the rows of two turns. */
const NAMES = 3

describe("A page of each list", () => {
  const rows = new Rows()
  it.effect("takes a turn of its own", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("test")
      const all: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        ...Object.fromEntries(Object.entries(lists).map(([name, [list]]) => [name, list(space, undefined)])),
        names: space.names("/data", { limit }),
        graph: space.graph.page({ limit }),
        trace: space.graph.traces,
        enzymes: kernel.enzymes
      }
      for (const [name, page] of Object.entries(all)) {
        // The space comes to rest.
        yield* turns()
        rows.turns = 0
        yield* page
        assert.strictEqual(rows.turns, 1, name)
      }
      yield* turns()
      rows.turns = 0
      yield* kernel.names({ limit })
      assert.strictEqual(rows.turns, NAMES, "names of spaces")
    }).pipe(Effect.provide(counted(rows))))
})
