import { assert, describe, it } from "@effect/vitest"
import * as Random from "../support/Random.ts"
import * as Probe from "./Probe.ts"
import type { Sample } from "./ProbeProcess.ts"

const sample = (time: number, processor = time): Sample => ({ time, processor })

/** Windows of samples around a typical one, of which some in a hundred are slower. */
const windows = (typical: number, slow: Sample, percent = 2): Probe.Windows => {
  const draw = Random.make(typical)
  return Array.from({ length: 8 }, () => Array.from({ length: 100 }, (_, i) => i < percent ? slow : sample(typical + draw(10) / 10)))
}

describe("The samples of another space", () => {
  const rest = windows(5, sample(10))

  it("may have three times the processor at rest, by their p99", () => {
    assert.isTrue(Probe.compare(rest, windows(10, sample(29))).holds)
    assert.isFalse(Probe.compare(rest, windows(10, sample(40))).holds)
    assert.isTrue(Probe.compare(rest, windows(5, sample(300), 1)).holds)
  })

  it("may have three times the time at rest, by their p99, while the processor is idle", () => {
    const slow = windows(5, sample(25, 5))
    assert.isTrue(Probe.compare(slow, windows(5, sample(74, 5))).holds)
    assert.isFalse(Probe.compare(slow, windows(5, sample(80, 5))).holds)
  })

  it("may have 30 ms of the processor, and 60 ms of idle time, however fast a quiet machine is", () => {
    assert.isTrue(Probe.compare(windows(1, sample(2)), windows(1, sample(29))).holds)
    assert.isFalse(Probe.compare(windows(1, sample(2)), windows(1, sample(40))).holds)
    assert.isTrue(Probe.compare(windows(1, sample(2)), windows(1, sample(59, 1))).holds)
    assert.isFalse(Probe.compare(windows(1, sample(2)), windows(1, sample(61, 1))).holds)
  })

  it("show nothing within the difference between windows at rest", () => {
    const busy = rest.map((window, i) => window.map(({ time }) => sample(time * (i % 2 === 0 ? 1 : 30))))
    assert.isTrue(Probe.compare(busy, windows(10, sample(40))).holds)
  })

  it("never stall, not even for one signal", () => {
    const stalled = windows(5, sample(10)).map((window, i) => i === 3 ? [sample(2000, 0), ...window.slice(1)] : window)
    assert.deepInclude(Probe.compare(rest, stalled), { longest: 2000, stalled: 1, holds: false })
  })

  it("are no smaller than the value that no smaller share reaches", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
    assert.deepStrictEqual([0.01, 0.5, 0.99, 1].map((share) => Probe.quantile(hundred, share)), [1, 50, 99, 100])
    assert.strictEqual(Probe.quantile([], 0.99), 0)
  })
})
