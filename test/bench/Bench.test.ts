import { assert, describe, it } from "@effect/vitest"
import * as Bench from "./Bench.ts"

const scripted = (values: ReadonlyArray<number>, log: Array<string>, name: string) => {
  let turn = 0
  return () => {
    log.push(name)
    return values[turn++]!
  }
}

describe("Bench", () => {
  it("interpolates quantiles", () => {
    assert.strictEqual(Bench.quantile([3, 1, 2], 0.5), 2)
    assert.strictEqual(Bench.quantile([1, 2], 0.5), 1.5)
    assert.strictEqual(Bench.quantile([5], 0.9), 5)
    assert.throws(() => Bench.quantile([], 0.5), "no quantile of no values")
  })

  it("lets contenders take turns, and rotates the first of a round", async () => {
    const log: Array<string> = []
    const values = [1, 1, 1, 1]
    await Bench.measure({
      name: "c",
      unit: "x/s",
      baseline: "a",
      contenders: { a: scripted(values, log, "a"), b: scripted(values, log, "b") },
      rounds: 2,
      warm: 2
    })
    assert.deepStrictEqual(log, ["a", "b", "b", "a", "a", "b", "b", "a"])
  })

  it("omits warm rounds, and compares within each round", async () => {
    const figures = await Bench.measure({
      name: "c",
      unit: "x/s",
      baseline: "a",
      contenders: { a: scripted([999, 10, 20, 40], [], "a"), b: scripted([1, 20, 40, 20], [], "b") },
      rounds: 3,
      warm: 1
    })
    assert.deepStrictEqual(figures.map((figure) => [figure.contender, figure.median, figure.ratio]), [["a", 20, 1], ["b", 20, 2]])
    assert.deepStrictEqual(Bench.rows("n", "node", figures)[1], {
      bench: "n",
      case: "c: b",
      host: "node",
      value: 20,
      unit: "x/s",
      baseline: 20,
      ratio: 2
    })
  })

  it("refuses a baseline that is no contender", async () => {
    const measuring = Bench.measure({ name: "c", unit: "x/s", baseline: "b", contenders: { a: () => 1 } })
    const failure = await measuring.catch((error: Error) => error.message)
    assert.strictEqual(failure, "The case \"c\" has no contender \"b\" to be its baseline; it has a")
  })
})
