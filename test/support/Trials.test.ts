import { assert, describe, it } from "@effect/vitest"
import * as Trials from "./Trials.ts"

describe("Trials", () => {
  it("run all in a soak, fewer in a full run, and fewest in a test", () => {
    for (const host of ["node", "deno", "bun"] as const) {
      const of = (setting: string) => Trials.shareOf(setting, host)
      assert.isAtMost(of("ok"), of("test"))
      assert.isAtMost(of("test"), of("full"))
      assert.isBelow(of("full"), of("soak"))
      assert.strictEqual(of("soak"), 1)
    }
  })

  it("are refused under a setting that does not exist", () => {
    assert.throws(() => Trials.shareOf("much", "node"), "TRIALS is \"much\"; give ok, test, full, soak")
  })

  it("are spread evenly, each once, and in their low bits too", () => {
    for (const bound of [1, 2, 3, 7, 60, 64, 80, 160, 512, 2000]) {
      assert.sameMembers([...Trials.spread(bound, bound)], Array.from({ length: bound }, (_, i) => i))
    }
    const few = Trials.spread(512, 64)
    const seen = (bits: (seed: number) => number) => new Set(few.map(bits)).size
    assert.deepStrictEqual([seen((seed) => seed % 8), seen((seed) => seed >> 6)], [8, 8])
  })

  it("run at least the fewest that a property needs, and always the seeds that it names", () => {
    const seeds = Trials.seeds(64, { from: 100, least: 40, always: [103, 7] })
    assert.isAtLeast(seeds.length, 40)
    assert.includeMembers([...seeds], [103, 7])
    assert.strictEqual(new Set(seeds).size, seeds.length)
    assert.isTrue(seeds.every((seed) => seed === 7 || seed >= 100 && seed < 164))
    assert.strictEqual(Trials.count(5, 40), 5)
  })

  it("have numbers of their own by setting, where a property says so", () => {
    const few = Trials.seedsBy({ ok: 2, test: 2, full: 2, soak: 2 })
    assert.deepStrictEqual(few, [0, 1])
    const spread = Trials.seedsBy({ ok: 5, test: 5, full: 5, soak: 5 })
    assert.deepStrictEqual(spread, [0, 1, 2, 3, 4])
  })

  it("replay a history from its first and its last beat and from some between, and a very short one from each", () => {
    assert.deepStrictEqual(Trials.beats(0), [0])
    assert.deepStrictEqual(Trials.beats(2), [0, 1, 2])
    for (const head of [10, 1000]) {
      const beats = Trials.beats(head)
      assert.isAtLeast(beats.length, 3)
      assert.deepStrictEqual([beats[0], beats.at(-1)], [0, head])
      assert.isTrue(beats.some((beat) => beat > 0 && beat < head))
    }
    assert.deepStrictEqual(Trials.manyBeats(15), Array.from({ length: 16 }, (_, beat) => beat))
    const many = Trials.manyBeats(1000)
    assert.isAtLeast(many.length, 16)
    assert.deepStrictEqual([many[0], many.at(-1)], [0, 1000])
  })
})
