import { assert, describe, it } from "@effect/vitest"
import { RunBoard } from "../../src/kernel/watchdog/RunBoard.ts"
import { ThreadBoard } from "../../src/kernel/watchdog/ThreadBoard.ts"
import { INSPECTION_MILLIS, RunInspector } from "../../src/main/watchdog/RunInspector.ts"

const limits = { stuckMillis: 1000, stopMillis: 3000 }

const run = (id: string, limitMs = 500) =>
  ({ key: "loop", beat: 5_000_000_000, flight: { signal: { id } }, entry: { enzyme: { limitMs } } })

/** Inspects for a time, and returns the late runs and the end of the process, each with its time. */
const looking = (inspector: RunInspector, from: number, millis: number) => {
  const late: Array<readonly [at: number, event: string]> = []
  for (let now = from; now <= from + millis; now += INSPECTION_MILLIS) {
    const found = inspector.inspect(now)
    for (const { event, node } of found.late) late.push([now - from, node === "" ? event : node])
    if (found.end !== undefined) return { late, end: [now - from, ...found.end.map(({ event, node }) => node === "" ? event : node)] }
  }
  return { late, end: undefined }
}

describe("The inspector of runs", () => {
  it("reports a run at its limit once, and ends the process after the grace period", () => {
    const board = new RunBoard()
    board.enter("shop", run("7.0.0"))
    const [shown] = board.runs()
    assert.deepInclude(shown, { space: "shop", beat: 5_000_000_000, enzyme: "loop", event: "7.0.0", limitMs: 500 })
    assert.deepStrictEqual(looking(new RunInspector(board, limits), 0, 5000), { late: [[500, "7.0.0"]], end: [1500, "7.0.0"] })
  })

  it("measures the time of each run separately", () => {
    const board = new RunBoard()
    const inspector = new RunInspector(board, limits)
    for (let i = 0; i < 100; i++) {
      board.enter("shop", run("same"))
      assert.deepStrictEqual(looking(inspector, i * 500, 400), { late: [], end: undefined })
      board.leave()
    }
  })

  it("ignores the time of a suspended machine and of a clock adjustment", () => {
    const board = new RunBoard()
    const inspector = new RunInspector(board, limits)
    board.enter("shop", run("7.0.0", 1000))
    inspector.inspect(0)
    assert.deepStrictEqual(inspector.inspect(3_600_000), { late: [], end: undefined, held: undefined })
  })

  it("ignores the time for which the thread of the runs waits for a core", () => {
    const board = new RunBoard()
    const inspector = new RunInspector(board, limits)
    board.enter("shop", run("7.0.0"))
    // The thread gets one of twenty shares of a core.
    for (let now = 0; now <= 9_900; now += INSPECTION_MILLIS) {
      assert.deepStrictEqual(inspector.inspect(now, now * 0.95), { late: [], end: undefined, held: undefined })
    }
    assert.lengthOf(inspector.inspect(10_000, 9_405).late, 1)
  })

  it("does not end the process while a debugger is attached", () => {
    const board = new RunBoard()
    board.isDebugged = true
    board.enter("shop", run("7.0.0"))
    assert.deepStrictEqual(looking(new RunInspector(board, limits), 0, 60_000), { late: [[500, "7.0.0"]], end: undefined })
  })

  it("blames the run that occupies the thread, and waiting runs only if none does", () => {
    const board = new RunBoard()
    const inspector = new RunInspector(board, limits)
    board.enter("other", run("1.0.0"))
    const place = board.wait()!
    board.enter("shop", run("7.0.0", 4000))
    assert.deepStrictEqual(looking(inspector, 0, 6000), { late: [[4000, "7.0.0"]], end: [5000, "7.0.0"] })
    board.leave()
    assert.deepStrictEqual(looking(inspector, 7000, 6000).end?.slice(1), ["1.0.0"])
    board.done(place)
    assert.deepStrictEqual(board.runs(), [])
  })

  it("blames no waiting run while other code holds the thread, and names the channel at work", () => {
    const [board, thread] = [new RunBoard(), new ThreadBoard()]
    const inspector = new RunInspector(board, limits, thread)
    board.enter("shop", run("7.0.0", 4000))
    board.returning(board.wait()!)()
    /** Looks for a time in which the event loop turns each second, or not. */
    const held = (from: number, millis: number, turns: boolean) => {
      const found: Array<unknown> = []
      for (let now = from; now <= from + millis; now += INSPECTION_MILLIS) {
        if (turns && now % 1000 === 0) thread.turn()
        const { end, held, late } = inspector.inspect(now)
        assert.deepStrictEqual(late, [])
        if (held !== undefined) found.push([now - from, held])
        if (end !== undefined) return [...found, end]
      }
      return found
    }
    assert.deepStrictEqual(held(1000, 60_000, true), [])
    for (const channel of ["files", "http"]) thread.started(channel)
    thread.ended("http")
    thread.enter("files")
    assert.deepStrictEqual(held(61_100, 3000, false), [[1900, { holder: "files", active: ["files"] }]])
    thread.leave()
    assert.deepStrictEqual(held(65_000, 60_000, true), [])
    assert.deepStrictEqual(held(125_100, 60_000, false), [[1900, { holder: undefined, active: ["files"] }], []])
  })

  it("tells of a waiting run that never gave the thread back as a run alone", () => {
    const [board, thread] = [new RunBoard(), new ThreadBoard()]
    const inspector = new RunInspector(board, limits, thread)
    thread.turn()
    board.enter("shop", run("7.0.0", 4000))
    const place = board.wait()!
    const found: Array<unknown> = []
    for (let now = 0; now <= 5000; now += INSPECTION_MILLIS) {
      const { end, held, late } = inspector.inspect(now)
      if (held !== undefined) found.push(held)
      found.push(...late.map(({ event }) => event), ...(end ?? []).map(({ event }) => `end ${event}`))
    }
    assert.deepStrictEqual(found, ["7.0.0", "end 7.0.0"])
    board.done(place)
  })

  it("measures each nested node separately, and resumes the interrupted run", () => {
    const board = new RunBoard()
    const inspector = new RunInspector(board, limits)
    board.enter("shop", run("7.0.0"))
    const outer = board.enterNode("shop", 1, "sum")
    const inner = board.enterNode("shop", 1, "total")
    assert.strictEqual(inner, "sum")
    assert.deepInclude(board.runs()[0], { node: "total", enzyme: "loop", event: "7.0.0" })
    board.leaveNode(inner)
    assert.deepInclude(board.runs()[0], { node: "sum" })
    looking(inspector, 0, 400)
    board.leaveNode(outer)
    assert.deepInclude(board.runs()[0], { node: "", event: "7.0.0" })
    assert.deepStrictEqual(looking(inspector, 500, 400), { late: [], end: undefined })
    board.leave()
    const alone = board.enterNode("shop", 2, "pass")
    assert.deepInclude(board.runs()[0], { node: "pass", enzyme: "", event: "", beat: 2 })
    board.leaveNode(alone)
    assert.deepStrictEqual(board.runs(), [])
  })

  it("ends a stopping process after the stop limit, and blames no run within its own limit", () => {
    const board = new RunBoard()
    board.enter("shop", run("7.0.0", 3_600_000))
    board.stop()
    assert.deepStrictEqual(looking(new RunInspector(board, limits), 0, 60_000), { late: [], end: [3000] })
  })
})
