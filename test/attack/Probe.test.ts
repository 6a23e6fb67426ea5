import { assert, describe, it } from "@effect/vitest"
import * as Random from "../support/Random.ts"
import * as Probe from "./Probe.ts"

/** Windows of latencies around a typical one, of which some in a hundred are slower. */
const windows = (typical: number, slow: number, percent = 2): Probe.Windows => {
  const draw = Random.make(typical)
  return Array.from({ length: 8 }, () => Array.from({ length: 100 }, (_, i) => i < percent ? slow : typical + draw(10) / 10))
}

describe("The latencies of another space", () => {
  const rest = windows(5, 10)

  it("may be three times those at rest, by their p99", () => {
    assert.isTrue(Probe.compare(rest, windows(10, 29)).holds)
    assert.isFalse(Probe.compare(rest, windows(10, 40)).holds)
    assert.isTrue(Probe.compare(rest, windows(5, 300, 1)).holds)
  })

  it("may be 30 ms, however fast a quiet machine is", () => {
    assert.isTrue(Probe.compare(windows(1, 2), windows(1, 29)).holds)
    assert.isFalse(Probe.compare(windows(1, 2), windows(1, 40)).holds)
  })

  it("show nothing within the difference between windows at rest", () => {
    const busy = rest.map((window, i) => window.map((value) => value * (i % 2 === 0 ? 1 : 30)))
    assert.isTrue(Probe.compare(busy, windows(10, 40)).holds)
  })

  it("never stall, not even for one signal", () => {
    const stalled = windows(5, 10).map((window, i) => i === 3 ? [2000, ...window.slice(1)] : window)
    assert.deepInclude(Probe.compare(rest, stalled), { longest: 2000, holds: false })
  })

  it("are no smaller than the value that no smaller share reaches", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
    assert.deepStrictEqual([0.01, 0.5, 0.99, 1].map((share) => Probe.quantile(hundred, share)), [1, 50, 99, 100])
    assert.strictEqual(Probe.quantile([], 0.99), 0)
  })
})
