import { assert, describe, it, vi } from "@effect/vitest"
import { SortedKeys } from "../../src/persistence/memory/SortedKeys.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

describe("sorted keys", () => {
  it("are those of a sorted list, after each change", () => {
    for (const seed of Trials.seeds(40, { least: 5 })) {
      const draw = Random.make(seed)
      const named = () => `/k${draw(3000)}`
      const known = new Set(Array.from({ length: draw(2000) }, named))
      const keys = new SortedKeys(known)
      for (let move = 0; move < 3000; move++) {
        const key = named()
        // Some phases empty the set, and others fill it.
        if (draw(8) < (move % 1000 < 500 ? 6 : 2)) {
          keys.delete(key)
          known.delete(key)
        } else {
          keys.add(key)
          known.add(key)
        }
        if (draw(100) > 0) continue
        const from = named()
        assert.deepStrictEqual([...keys.after(from)], [...known].filter((one) => one > from).sort(), `seed ${seed}, move ${move}`)
      }
      for (const key of known) keys.delete(key)
      assert.deepStrictEqual([...keys.after("")], [])
    }
  })

  it("move few keys for a change, however many there are", () => {
    const keys = new SortedKeys(Array.from({ length: 100_000 }, (_, i) => `/k${i}`))
    const splice = vi.spyOn(Array.prototype, "splice")
    const sort = vi.spyOn(Array.prototype, "sort")
    for (let i = 0; i < 3000; i++) {
      keys.add(`/k5-${i}`)
      keys.delete(`/k${i}`)
      const [first] = keys.after("/k5")
      assert.isDefined(first)
    }
    const sorts = sort.mock.calls.length
    // A chunk, or the list of chunks.
    const moved = splice.mock.contexts.map((list) => (list as ReadonlyArray<unknown>).length)
    sort.mockRestore()
    splice.mockRestore()
    assert.strictEqual(sorts, 0)
    assert.isAtMost(Math.max(...moved), 1000)
  })
})
