import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { TimerQueue } from "../../../src/kernel/inbox/TimerQueue.ts"
import { WaitingRuns } from "../../../src/kernel/inbox/WaitingRuns.ts"
import * as Signal from "../../../src/kernel/model/Signal.ts"
import { present } from "../../support/Present.ts"
import { command, current } from "../../scripts/Host.ts"
import { run as runProcess } from "../../scripts/Process.ts"
import { sent, waiting } from "./WaitingRun.ts"

const hearersOf = (runs: WaitingRuns, signal: string, target: string): ReadonlyArray<string> =>
  runs.hearersOf({ ...sent, signal, target }, () => 0).map(({ oid }) => oid.slice(-2))

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
    runs.add(new Signal.PendingSignal(2, sent, { again: { ...again, run } }))
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

  // The measured process is always Node's. It has a heap of its own, because other tests leave code and garbage behind.
  it.runIf(current() === "node")("take at most 780 bytes each in the memory of the inbox", async () => {
    const { code, output } = await runProcess(command("node", join(import.meta.dirname, "waitingBytes.ts")))
    assert.strictEqual(code, 0, output)
    assert.isBelow(Number(output), 780)
  })
})
