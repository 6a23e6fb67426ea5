import { assert, describe, it } from "@effect/vitest"
import { ChurnMap } from "../../../src/kernel/inbox/ChurnMap.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"

describe("ChurnMap", () => {
  it("behaves like an ordered map under any churn", () => {
    for (const seed of Trials.seeds(4)) {
      const draw = Random.make(seed)
      const [map, model] = [new ChurnMap<number, number>(), new Map<number, number>()]
      for (let move = 0; move < 20_000; move++) {
        // It alternately grows and shrinks.
        const key = draw(2000)
        if (draw(10) < (move % 8000 < 4000 ? 7 : 3)) {
          map.set(key, move)
          model.set(key, move)
        } else assert.strictEqual(map.delete(key), model.delete(key))
        assert.deepStrictEqual([map.get(key), map.has(key), map.size], [model.get(key), model.has(key), model.size])
        if (move % 500 === 0) assert.deepStrictEqual([[...map.keys()], [...map.values()]], [[...model.keys()], [...model.values()]])
      }
    }
  })
})
