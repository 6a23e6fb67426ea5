import { assert, describe, it } from "@effect/vitest"
import { RunBoard } from "../../src/kernel/watchdog/RunBoard.ts"
import { Guard, LOOK_MILLIS } from "../../src/main/Guard.ts"

const limits = { stuckMillis: 1000, stopMillis: 3000 }

const run = (id: string, limitMs = 500) => ({ key: "loop", beat: 5_000_000_000, flight: { signal: { id } }, entry: { enzyme: { limitMs } } })

/** Looks for so long; answers when which runs were late, and when and for which the process was to end. */
const looking = (guard: Guard, from: number, millis: number) => {
  const late: Array<readonly [at: number, event: string]> = []
  for (let now = from; now <= from + millis; now += LOOK_MILLIS) {
    const found = guard.look(now)
    for (const { event, node } of found.late) late.push([now - from, node === "" ? event : node])
    if (found.end !== undefined) return { late, end: [now - from, ...found.end.map(({ event, node }) => node === "" ? event : node)] }
  }
  return { late, end: undefined }
}

describe("The guard", () => {
  it("names a run at its limit, once, and ends the process after the limit for that", () => {
    const board = new RunBoard()
    board.enter("shop", run("7.0.0"))
    const [shown] = board.runs()
    assert.deepInclude(shown, { space: "shop", beat: 5_000_000_000, enzyme: "loop", event: "7.0.0", limitMs: 500 })
    assert.deepStrictEqual(looking(new Guard(board, limits), 0, 5000), { late: [[500, "7.0.0"]], end: [1500, "7.0.0"] })
  })

  it("takes no run for another: each begins with its own time", () => {
    const board = new RunBoard()
    const guard = new Guard(board, limits)
    for (let i = 0; i < 100; i++) {
      board.enter("shop", run("same"))
      assert.deepStrictEqual(looking(guard, i * 500, 400), { late: [], end: undefined })
      board.leave()
    }
  })

  it("counts no time that the machine slept, nor that its clock jumped", () => {
    const board = new RunBoard()
    const guard = new Guard(board, limits)
    board.enter("shop", run("7.0.0", 1000))
    guard.look(0)
    assert.deepStrictEqual(guard.look(3_600_000), { late: [], end: undefined })
  })

  it("ends nothing while a debugger may hold the thread", () => {
    const board = new RunBoard()
    board.isDebugged = true
    board.enter("shop", run("7.0.0"))
    assert.deepStrictEqual(looking(new Guard(board, limits), 0, 60_000), { late: [[500, "7.0.0"]], end: undefined })
  })

  it("blames the run that has the thread, and those that wait only where none has it", () => {
    const board = new RunBoard()
    const guard = new Guard(board, limits)
    board.enter("other", run("1.0.0"))
    const place = board.wait()!
    board.enter("shop", run("7.0.0", 4000))
    assert.deepStrictEqual(looking(guard, 0, 6000), { late: [[4000, "7.0.0"]], end: [5000, "7.0.0"] })
    board.leave()
    assert.deepStrictEqual(looking(guard, 7000, 6000).end?.slice(1), ["1.0.0"])
    board.done(place)
    assert.deepStrictEqual(board.runs(), [])
  })

  it("gives each node its own time, names the innermost, and goes back to what it interrupts", () => {
    const board = new RunBoard()
    const guard = new Guard(board, limits)
    board.enter("shop", run("7.0.0"))
    const outer = board.enterNode("shop", 1, "sum")
    const inner = board.enterNode("shop", 1, "total")
    assert.strictEqual(inner, "sum")
    assert.deepInclude(board.runs()[0], { node: "total", enzyme: "loop", event: "7.0.0" })
    board.leaveNode(inner)
    assert.deepInclude(board.runs()[0], { node: "sum" })
    looking(guard, 0, 400)
    board.leaveNode(outer)
    assert.deepInclude(board.runs()[0], { node: "", event: "7.0.0" })
    assert.deepStrictEqual(looking(guard, 500, 400), { late: [], end: undefined })
    board.leave()
    const alone = board.enterNode("shop", 2, "pass")
    assert.deepInclude(board.runs()[0], { node: "pass", enzyme: "", event: "", beat: 2 })
    board.leaveNode(alone)
    assert.deepStrictEqual(board.runs(), [])
  })

  it("ends a process that is told to stop within the limit for that, and blames no run within its own", () => {
    const board = new RunBoard()
    board.enter("shop", run("7.0.0", 3_600_000))
    board.stop()
    assert.deepStrictEqual(looking(new Guard(board, limits), 0, 60_000), { late: [], end: [3000] })
  })
})
