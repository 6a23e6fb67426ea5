import { assert, describe, it } from "@effect/vitest"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { TimerQueue } from "../../../src/kernel/inbox/TimerQueue.ts"
import { WaitingRuns } from "../../../src/kernel/inbox/WaitingRuns.ts"
import * as Signal from "../../../src/kernel/model/Signal.ts"
import { present } from "../../support/Present.ts"
import { current } from "../../scripts/Host.ts"

const sent = Signal.make({ id: "x.0.0", signal: "/signals/wait", target: undefined, payload: undefined, at: undefined }, {
  origin: "ingress", depth: 0, expected: 0, to: undefined, awaits: undefined, label: undefined
})

/** The number of a row, and the reason of its attempt. */
interface How {
  readonly seq?: number
  readonly why?: Signal.Again["why"]
}

/** A run that waits for signals, and for a time. It shares no text with other runs, like a run from a row. */
const waiting = (n: number, hears: Signal.WaitingRun["hears"], { seq = n, why = "segment" }: How = {}): Signal.Pending => {
  const run = { oid: `OPS:${String(n).padStart(32, "0")}`, dues: [{ beat: undefined, moment: 86_400_000_000 + n }], hears }
  const again = { enzyme: "run", attempt: 1, why, document: undefined, losses: 0, captured: 0, lane: undefined, loose: true, run }
  const pending = new Signal.Pending(seq, sent, { again: why === "segment" ? { ...again, segment: 1 } : again })
  return Signal.Pending.fromRow({ seq, text: pending.text })
}

const hearersOf = (runs: WaitingRuns, signal: string, target: string): ReadonlyArray<string> =>
  runs.hearersOf({ ...sent, signal, target }, () => 0).map(({ oid }) => oid.slice(-2))

/** The bytes in use after a collection. */
const used = (): number => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

describe("Runs that wait", () => {
  it("hear the signals of their newest row, in the order of the rows", () => {
    const runs = new WaitingRuns(new TimerQueue())
    for (const n of [1, 2, 3]) runs.add(waiting(n, [["/signals/go", "/data/a", 1], ["/signals/stop", `/data/${n}`, 1]]))
    assert.deepStrictEqual(hearersOf(runs, "/signals/go", "/data/a"), ["01", "02", "03"])
    runs.take(waiting(2, []).again?.run?.oid ?? "")
    assert.deepStrictEqual(hearersOf(runs, "/signals/stop", "/data/2"), ["02"])
    runs.add(waiting(2, [["/signals/go", "/data/a", 2]], { seq: 4 }))
    assert.deepStrictEqual(hearersOf(runs, "/signals/go", "/data/a"), ["01", "03", "02"])
    assert.deepStrictEqual(hearersOf(runs, "/signals/stop", "/data/2"), [])
    for (const n of [1, 2, 3]) runs.discard(waiting(n, []).again?.run?.oid ?? "")
    assert.deepStrictEqual(hearersOf(runs, "/signals/go", "/data/a"), [])
    assert.strictEqual(runs.open, 0)
  })

  it("keep the pairs that a list of changes leaves out, unless they are beyond the number of all", () => {
    const runs = new WaitingRuns(new TimerQueue())
    const pairs = ["a", "b", "c"].map((name) => ["/signals/go", `/data/${name}`, 0] as const)
    runs.add(waiting(1, pairs))
    const again = present(waiting(1, [["/signals/go", "/data/d", 1]]).again)
    const run = { ...present(again.run), changed: { numbers: [1], of: 2 } }
    runs.add(new Signal.Pending(2, sent, { again: { ...again, run } }))
    const heard = ["a", "b", "c", "d"].map((name) => runs.hearersOf({ ...sent, signal: "/signals/go", target: `/data/${name}` }, () => 0))
    assert.deepStrictEqual(heard.map(([found]) => [found?.pair, found?.isAwaited]), [
      [0, false], [undefined, undefined], [undefined, undefined], [1, true]
    ])
  })

  it("count from their first wait on, and not while they try their first segment", () => {
    const runs = new WaitingRuns(new TimerQueue())
    const oid = waiting(1, []).again?.run?.oid ?? ""
    runs.add(waiting(1, [["/signals/go", "/data/a", 1]], { why: "retry" }))
    assert.deepStrictEqual([runs.open, runs.has(oid), hearersOf(runs, "/signals/go", "/data/a")], [0, false, ["01"]])
    runs.add(waiting(1, []))
    assert.deepStrictEqual([runs.open, runs.has(oid)], [1, true])
    assert.isDefined(runs.take(oid))
    assert.deepStrictEqual([runs.open, runs.has(oid), runs.take(oid)], [1, false, undefined])
    runs.forget(oid)
    assert.strictEqual(runs.open, 0)
  })

  // The heap of other engines is not told as exactly.
  it.runIf(current() === "node")("take at most 780 bytes each in the memory of the inbox", () => {
    const COUNT = 20_000
    /** The bytes of a run. Other tests share the heap, and what they leave to be compiled or collected adds to some measurements. */
    const measured = (): number => {
      const waits = new TimerQueue()
      const runs = new WaitingRuns(waits)
      const before = used()
      for (let n = 0; n < COUNT; n++) runs.add(waiting(n, [["/signals/answer/given", `/data/questions/${n}`, 1]]))
      const bytes = (used() - before) / COUNT
      assert.deepStrictEqual(hearersOf(runs, "/signals/answer/given", "/data/questions/42"), ["42"])
      assert.strictEqual(waits.size, COUNT)
      return bytes
    }
    assert.isBelow(Math.min(measured(), measured(), measured()), 780)
  })
})
