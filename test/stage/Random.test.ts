import { assert, describe, it } from "@effect/vitest"
import * as Random from "../../src/stage/Random.ts"
import { SEED } from "./TestBeat.ts"

/** In units of 2 to the power of -32. */
const PINNED = [
  [4147111258, 948910129, 1408632351],
  [1516875350, 3717823422, 1362415785],
  [2400208151, 1037347181, 3327049589]
]

const draw = (seed: string, run: number, count: number): ReadonlyArray<number> => {
  const next = Random.make(seed, run)
  return Array.from({ length: count }, next)
}

describe("Random", () => {
  it("gives the same numbers on every host", () => {
    const drawn = [[SEED, 0], [SEED, 1], ["f".repeat(32), 1023]].map(
      ([seed, run]) => draw(seed as string, run as number, 3).map((number) => number * 2 ** 32)
    )
    assert.deepStrictEqual(drawn, PINNED)
  })

  it("draws from 0 up to 1, evenly enough", () => {
    const numbers = draw(SEED, 5, 10_000)
    assert.isTrue(numbers.every((number) => number >= 0 && number < 1))
    const tenths = Array.from({ length: 10 }, (_, i) => numbers.filter((number) => Math.floor(number * 10) === i).length)
    assert.isTrue(tenths.every((count) => count > 850 && count < 1150), String(tenths))
  })

  it("differs from run to run, and from seed to seed", () => {
    const firsts = new Set(Array.from({ length: 1024 }, (_, run) => draw(SEED, run, 1)[0]))
    assert.strictEqual(firsts.size, 1024)
    assert.notDeepEqual(draw(SEED, 0, 2), draw(SEED.replace("f", "e"), 0, 2))
  })
})
