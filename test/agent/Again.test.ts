/**
 * An agent of a file in a cell goes on after any end of a wake.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Kernel, type Space } from "systole"
import plugin from "../../plugins/agent.ts"
import { replays } from "../kernel/TestSpace.ts"
import * as CellStore from "../../plugins/agent/cells/CellStore.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import { action, fileOf, moving, START } from "./TestAgent.ts"
import { CELL, withCellAgent } from "./TestCellAgent.ts"

const answer = { status: 200, headers: {}, url: "", body: "" }
const check = (id: string, fields: Readonly<Record<string, string>> = {}) =>
  action(id, { type: "http_check", target: "http://example.com", status: "pending", schedule: "every:5m", ...fields })

/** A channel that counts its requests. The first ones stay open. */
const world = (open: number) => {
  const asked: Array<number> = []
  return { asked, options: { scripts: { http: () => asked.push(1) > open ? answer : new Promise(() => undefined) } } }
}

/** The wake that waits for the end of an action. */
const wakeOf = (space: Space) =>
  Effect.map(space.runs.list({ limit: 100 }), ({ runs }) =>
    runs.find(({ enzyme, state }) => enzyme === "heartbeat_wake" && state !== "dead")?.oid ?? "")

/** Waits until a control operation is over, and the space is in a state. */
const over = Effect.fnUntraced(function*<E>(space: Space, ask: Effect.Effect<unknown, E>, end: string) {
  yield* ask
  for (let second = 0; second < 60; second++) {
    const { control, state } = yield* space.control.state
    if (control === null && state === end) return
    yield* Effect.sleep("1 second")
  }
})

const rolledBack = Effect.fnUntraced(function*(space: Space, to: number) {
  yield* over(space, space.control.pause(), "paused")
  yield* over(space, space.control.rollback(to), "paused")
  yield* over(space, space.control.resume(), "running")
})

/** Ends the run of a wake, and lets a space beat on. */
type End = (space: Space) => Effect.Effect<unknown, unknown>

const ends: ReadonlyArray<readonly [string, End]> = [
  ["is cancelled at once", (space) => Effect.flatMap(wakeOf(space), (oid) => space.runs.cancel(oid, { now: true }))],
  ["is cancelled", (space) => Effect.flatMap(wakeOf(space), (oid) => space.runs.cancel(oid))]
]

describe("An agent of a file in a cell whose wake dies", () => {
  it.effect.each(ends)("goes on after a minute, where it %s", ([, end]) => {
    const { asked, options } = world(1)
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(check("slow", { timeout: "20s" }), check("other")))
      yield* pass("2 seconds")
      assert.strictEqual(asked.length, 1)
      assert.notStrictEqual(yield* wakeOf(space), "")
      yield* moving(end(space))
      yield* pass("2 minutes")
      const { letters } = yield* space.dead({ limit: 100 })
      assert.deepStrictEqual(letters.map(({ enzyme, target }) => [enzyme, target]), [["heartbeat_wake", CELL]])
      yield* pass("15 minutes")
      assert.isAtLeast(asked.length, 5)
      assert.isFalse((yield* space.below("/data/agent", { limit: 100 })).some((cell) => cell.endsWith("/died")))
      yield* replays(space)
    }), options)
  })

  it.effect("goes on where a deployment took its module away", () => {
    const { asked, options } = world(1)
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      const kernel = yield* Kernel
      const old = plugin.enzymes.find(({ name }) => name === "heartbeat_wake")!
      const { _tag, ...definition } = old
      const other = Enzyme.make({
        ...Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined)) as typeof definition,
        run: (tx, event) => {
          tx.get("/data/read_by_no_earlier_module")
          return old.run(tx, event)
        }
      } as Enzyme.Definition)
      yield* kernel.unregister(old)
      yield* kernel.register(old, { hash: "a".repeat(64) })
      yield* save(fileOf(check("slow", { timeout: "20s" }), check("other")))
      yield* pass("2 seconds")
      assert.strictEqual(asked.length, 1)
      yield* kernel.unregister(old)
      yield* kernel.register(other, { hash: "b".repeat(64) })
      yield* pass("20 minutes")
      const { letters } = yield* space.dead({ limit: 100 })
      assert.deepStrictEqual(letters.map(({ code, enzyme }) => [enzyme, code]), [["heartbeat_wake", "run/code-missing"]])
      assert.isAtLeast(asked.length, 5)
    }), { ...options, residentRuns: 0 })
  })

  it.effect("waits longer after each further wake that dies, and not for ever", () => {
    const { asked, options } = world(Number.POSITIVE_INFINITY)
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(check("slow", { timeout: "1h", schedule: "every:1s" })))
      for (let minute = 0; minute < 40; minute++) {
        yield* pass("1 minute")
        const oid = yield* wakeOf(space)
        if (oid !== "") yield* moving(space.runs.cancel(oid, { now: true }))
      }
      const { letters } = yield* space.dead({ limit: 100 })
      assert.isAtLeast(letters.length, 4)
      assert.isAtMost(letters.length, 6)
      assert.strictEqual(asked.length, 1)
    }), options)
  })

  it.effect("goes on after a rollback that takes back a wake in flight", () => {
    const begun: Array<string> = []
    // A space with an open request is not paused, so the action has none.
    const nap = Enzyme.make({
      name: "agent_nap",
      query: "/signals/agent/shell",
      durable: true,
      run: (tx, { id }) => {
        begun.push(id)
        return tx.sleep(600_000)
      }
    })
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      const at = new Date(START + 60_000).toISOString().replace(".000", "")
      const kernel = yield* Kernel
      yield* kernel.unregister(plugin.enzymes.find(({ name }) => name === "agent_shell")!)
      yield* kernel.register(nap)
      const fields = { type: "shell", command: "sleep 600", status: "pending", timeout: "20m", schedule: `at:${at}` }
      const { issues } = yield* save(fileOf(action("nap", fields)))
      assert.deepStrictEqual(issues, [])
      yield* pass("5 seconds")
      assert.deepStrictEqual([begun.length, yield* wakeOf(space)], [0, ""])
      const horizon = yield* space.head
      yield* pass("1 minute")
      assert.deepStrictEqual([begun.length, (yield* wakeOf(space)) === ""], [1, false])
      yield* moving(rolledBack(space, horizon))
      const { letters } = yield* space.dead({ limit: 100 })
      assert.deepInclude(letters.map(({ code, enzyme }) => [enzyme, code]), ["heartbeat_wake", "run/taken-back"])
      yield* pass("3 minutes")
      assert.strictEqual(begun.length, 2)
    }))
  })

  it.effect("goes on after one whose step log was full", () => {
    const { asked, options } = world(0)
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      // A wake reads all records, and its log has what it read.
      const large = (id: number) => ({
        action: `a${id}`, event: "e", occurrence: "o", attempt: 1, attempts: 1, status: "completed", startedAt: START, pendings: 1,
        result: "x".repeat(1_000_000)
      })
      const { key = "" } = CellStore.place(CELL) ?? {}
      for (let id = 0; id < 9; id++) yield* moving(space.set(Record.cell(key, `a${id}`), large(id)))
      yield* save(fileOf(check("a"), check("b")))
      yield* pass("4 minutes")
      const { letters } = yield* space.dead({ limit: 100 })
      assert.isAtLeast(letters.length, 2)
      assert.deepStrictEqual([...new Set(letters.map(({ code, enzyme }) => `${enzyme} ${code}`))], ["heartbeat_wake run/steps-full"])
      for (let id = 0; id < 9; id++) yield* moving(space.set(Record.cell(key, `a${id}`), undefined))
      yield* pass("10 minutes")
      assert.isAtLeast(asked.length, 2)
      assert.isFalse((yield* space.below("/data/agent", { limit: 100 })).some((cell) => cell.endsWith("/died")))
    }), options)
  })

  it.effect("goes on after a rollback behind a wake that was over", () => {
    const { asked, options } = world(0)
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(check("a")))
      const horizon = yield* space.head
      yield* pass("6 minutes")
      const before = asked.length
      assert.isAbove(before, 1)
      yield* moving(rolledBack(space, horizon))
      yield* pass("15 minutes")
      assert.isAtLeast(asked.length - before, 2)
    }), options)
  })
})
