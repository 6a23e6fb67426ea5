import { assert, describe, it } from "@effect/vitest"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import type { Case } from "./Bench.ts"
import * as Watch from "./Watch.ts"

const samples = (name: string, values: ReadonlyArray<number>): ReadonlyArray<Watch.Sample> => values.map((value) => ({ name, value }))

/** A case in which the contender takes twice as much as the baseline, or half as much. */
const kase = (name: string, unit: string, value: number): Case =>
  ({ name, unit, baseline: "alien", contenders: { alien: () => 10, systole: () => value, mobx: () => assert.fail("mobx ran") } })

describe("The watch", () => {
  it("names a figure slower or faster if no sample lies within the range of the other tree", () => {
    const verdicts = Watch.compare(
      [...samples("a", [10, 11, 12]), ...samples("b", [10, 11, 12]), ...samples("c", [10, 11, 12]), ...samples("gone", [1])],
      [...samples("a", [8, 9, 9.9]), ...samples("b", [13, 12.1, 14]), ...samples("c", [9, 10, 20]), ...samples("new", [1])]
    )
    assert.deepStrictEqual(verdicts.map(({ name, verdict }) => [name, verdict]), [["a", "slower"], ["b", "faster"], ["c", "same"]])
    assert.strictEqual(verdicts[0]!.ratio, 9 / 11)
    assert.strictEqual(verdicts[2]!.spread, 1.1)
  })

  it("takes the geometric mean of the cases of a figure, in which more is better", async () => {
    const measured = await Watch.sample("reactive", [
      kase("dynamic: one", "ms", 20), kase("dynamic: two", "ms", 5), kase("kairo: cellx 1000", "ms", 20), kase("kairo: deep", "/s", 20)
    ])
    assert.deepStrictEqual(measured.map(({ name, value }) => [name, Number(value.toFixed(6))]), [
      ["reactive: kairo", 2], ["reactive: cellx 1000", 0.5], ["reactive: dynamic", 1]
    ])
  })

  it("refuses a commit that does not exist", async () => {
    const { code, output } = await run([node(), "test/scripts/run.mjs", "bench", "watch", "bogus"], { cwd: root })
    assert.strictEqual(code, 2)
    assert.include(output, "There is no commit \"bogus\"")
  })
})
