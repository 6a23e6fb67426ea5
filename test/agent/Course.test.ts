import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import { MAX_BACKGROUND } from "../../plugins/agent/wake/Course.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import { action, fileOf, KEY, START, withAgent } from "./TestAgent.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}, priority?: string): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields }, priority)

/** The turns of the host that a program waits for others beside it, and those in which one too many would begin. */
const PATIENCE = 5_000
const TURNS = 200

/** Programs of which a number is expected at the same time. They count the most that there were. */
const programs = (failing: ReadonlyArray<string> = [], expected = 1) => {
  const world = { started: [] as Array<string>, running: new Set<string>(), most: 0, scripts: {} }
  const run = async (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
    const id = argv[1] ?? ""
    world.started.push(id)
    world.running.add(id)
    world.most = Math.max(world.most, world.running.size)
    for (let turn = 0; turn < (world.most < expected ? PATIENCE : TURNS); turn++) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
    world.running.delete(id)
    if (failing.includes(id)) throw Channel.fail("shell/exit", "exit code 1")
    return { code: 0, stdout: "", stderr: "" }
  }
  world.scripts = { shell: run }
  return world
}

const ids = (count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, i) => `a${i}`)

/** The record of an attempt in progress. */
const running = (id: string, fields: object = {}) => ({
  action: id, event: "gone", occurrence: "pending:1", attempt: 1, attempts: 1, status: "running", startedAt: START, pendings: 1, ...fields
})

describe("The course of a wake", () => {
  it.effect("runs one action after another by default, and at most maxConcurrent at the same time", () => {
    const one = programs()
    const three = programs([], 3)
    const file = fileOf(...ids(5).map((id) => shell(id)))
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual([one.most, one.started.length], [1, 5])
      yield* withAgent(file, (agent) => Effect.gen(function*() {
        yield* agent.wake()
        assert.deepStrictEqual([three.most, three.started.length], [3, 5])
      }), { scripts: three.scripts, settings: { maxConcurrent: 3 } })
    }), { scripts: one.scripts })
  })

  it.effect("takes an order that no cell can hold as a failed attempt, and goes on with the others", () => {
    // Quotes have two characters in the text of a document.
    const large = action("large", { type: "http", url: "http://example.com", body: "\"".repeat(530_000), status: "pending" }, "HIGH")
    return withAgent(fileOf(large, shell("other")), ({ fields, wake }) => Effect.gen(function*() {
      const { ran } = yield* wake()
      assert.deepStrictEqual(ran.map(({ action, record }) => [action.id, record.status, record.failure?.code]), [
        ["large", "failed", "agent/order-refused"], ["other", "completed", undefined]
      ])
      assert.include(fields("large")["error"], "the space refuses its order")
    }))
  })

  it.effect("runs a CRITICAL action beside no other one, and none after its failure", () => {
    const world = programs(["vital"])
    const file = fileOf(shell("other"), shell("vital", {}, "CRITICAL"))
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["vital"])
    }), { scripts: world.scripts, settings: { maxConcurrent: 4 } })
  })

  it.effect("runs no action twice, by itself and as a member of a composite action", () => {
    const world = programs()
    const all = action("all", { type: "composite", actions: "a", status: "pending" })
    const file = fileOf(shell("a", { schedule: "every:1h" }, "HIGH"), all)
    return withAgent(file, ({ space, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual([world.most, world.started], [1, ["a"]])
      assert.strictEqual(((yield* space.get(`/data/agent/${KEY}/actions/all`)) as { readonly status?: string }).status, "completed")
    }), { scripts: world.scripts, settings: { maxConcurrent: 4 } })
  })

  it.effect("bounds the background actions that run at the same time, and runs all", () => {
    const world = programs([], MAX_BACKGROUND)
    const count = MAX_BACKGROUND + 5
    return withAgent(fileOf(...ids(count).map((id) => shell(id, {}, "BG"))), ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual([world.most, world.started.length], [MAX_BACKGROUND, count])
    }), { scripts: world.scripts })
  })

  it.effect("gives an attempt up whose run is gone, after its timeout, and runs the others", () => {
    const world = programs()
    const file = fileOf(shell("a", { status: "running", timeout: "1m" }), shell("b"))
    return withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* space.set(`/data/agent/${KEY}/actions/a`, running("a") as never)
      const { ran } = yield* wake()
      assert.deepStrictEqual(ran.map(({ record }) => record.startedAt >= START + 60_000), [true])
      assert.deepInclude(fields("a"), { status: "failed", error: "its run did not end within the timeout, and is given up" })
      const history = Array.from((yield* space.get(`/data/agent/${KEY}/history/a`)) as ArrayLike<unknown>, Record.read)
      assert.deepStrictEqual(history.map((record) => record?.failure?.code), ["agent/interrupted"])
      assert.strictEqual(fields("b")["status"], "completed")
    }), { scripts: world.scripts })
  })

  it.effect("runs others beside a run that it waits for, as far as maxConcurrent allows, and each once", () => {
    const world = programs()
    const file = fileOf(shell("a", { status: "running", timeout: "1m" }), shell("b"), shell("c", { depends_on: "a" }), shell("d", {}, "BG"))
    const test = (maxConcurrent: number, isBeside: boolean) => withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* space.set(`/data/agent/${KEY}/actions/a`, running("a") as never)
      const { ran } = yield* wake()
      const begun = (id: string): number => ran.find(({ action }) => action.id === id)?.record.startedAt ?? Infinity
      assert.deepStrictEqual(ran.map(({ action }) => action.id).toSorted(), ["b", "d"])
      assert.strictEqual(begun("b") < START + 60_000, isBeside)
      assert.isBelow(begun("d"), START + 60_000)
      assert.deepStrictEqual(["a", "b", "c", "d"].map((id) => fields(id)["status"]), ["failed", "completed", "skipped", "completed"])
    }), { scripts: world.scripts, settings: { maxConcurrent } })
    return Effect.andThen(test(1, false), test(2, true))
  })

  it.effect("does not wait for a run that is overdue since an earlier wake, also if the clock was set back", () => {
    const world = programs()
    const file = fileOf(shell("a", { status: "running", timeout: "1m" }), shell("b", { status: "running", timeout: "1m" }))
    return withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* space.set(`/data/agent/${KEY}/actions/a`, running("a", { startedAt: START - 120_000 }) as never)
      yield* space.set(`/data/agent/${KEY}/actions/b`, running("b", { startedAt: START + 86_400_000 }) as never)
      yield* wake()
      assert.deepStrictEqual(["a", "b"].map((id) => fields(id)["status"]), ["failed", "failed"])
      assert.isBelow(Date.parse(fields("a")["failed_at"] ?? ""), START + 60_000)
      assert.isBelow(Date.parse(fields("b")["failed_at"] ?? ""), START + 120_000)
    }), { scripts: world.scripts })
  })

  it.effect("calls the action of on_failure also after a failure that an earlier process did not see", () => {
    const world = programs()
    const file = fileOf(shell("a", { status: "running", on_failure: "b" }), shell("b"))
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["b"])
    }), { scripts: world.scripts })
  })

  it.effect("counts failures that it finds after a crash among its own", () => {
    const world = programs()
    const file = fileOf(shell("a", { status: "running" }), shell("b"))
    return withAgent(file, ({ text, wake }) => Effect.gen(function*() {
      const report = yield* wake()
      assert.deepStrictEqual(report.ran.map(({ action }) => action.id), ["b"])
      assert.deepStrictEqual(report.earlier.map(({ action, record }) => [action.id, record.status]), [["a", "failed"]])
      assert.include(text(), "error_count: 1\nlast_error: \"a: the agent ended before the action began\"\n")
      assert.isEmpty((yield* wake()).earlier)
      assert.include(text(), "error_count: 1\n")
    }), { scripts: world.scripts })
  })

  it.effect("ends the occurrence of startup and of on_change whose condition is false", () => {
    const world = programs()
    const condition = "file_exists:flag"
    const file = fileOf(shell("a", { schedule: "startup", condition }), shell("b", { schedule: "on_change:x", condition }))
    return withAgent(file, ({ disk, fields, wake }) => Effect.gen(function*() {
      yield* wake()
      disk.save("/home/ann/x", "1")
      yield* wake()
      assert.deepStrictEqual([fields("a")["status"], fields("b")["status"]], ["skipped", "skipped"])
      disk.save("/home/ann/flag", "")
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual(world.started, [])
      disk.save("/home/ann/x", "2")
      yield* wake({ startup: "2" })
      assert.deepStrictEqual(world.started, ["a", "b"])
    }), { scripts: world.scripts })
  })

  it.effect("ends an occurrence whose condition is false at its next attempt", () => {
    const world = programs(["a"])
    const file = fileOf(shell("a", { schedule: "every:1h", condition: "NOT file_exists:flag", retry: "3", retry_delay: "fixed:5s" }))
    return withAgent(file, ({ disk, wake }) => Effect.gen(function*() {
      yield* wake()
      disk.save("/home/ann/flag", "")
      yield* TestClock.adjust("5 seconds")
      yield* wake()
      disk.names.delete("/home/ann/flag")
      yield* TestClock.adjust("5 seconds")
      yield* wake()
      assert.deepStrictEqual(world.started, ["a"])
      yield* TestClock.adjust("1 hour")
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "a"])
    }), { scripts: world.scripts })
  })

  it.effect("takes the end of a run for its action that a person gave another id meanwhile", () => {
    let save = (): void => {}
    const scripts = {
      shell: () => {
        save()
        return { code: 0, stdout: "", stderr: "" }
      }
    }
    return withAgent(fileOf(shell("before")), ({ disk, fields, text, wake }) => Effect.gen(function*() {
      save = () => disk.replace("/home/ann/heartbeat.md", text().replace("**id**: before", "**id**: after"))
      yield* wake()
      assert.strictEqual(fields("after")["status"], "running")
      const { ran } = yield* wake()
      assert.deepStrictEqual(ran, [])
      assert.deepInclude(fields("after"), { status: "completed", result: "exit 0" })
      assert.deepStrictEqual((yield* wake()).ran, [])
    }), { scripts })
  })

  it.effect("runs no action whose status is unknown, neither as a member nor after a failure", () => {
    const world = programs(["bad"])
    const file = fileOf(
      action("inner", { type: "composite", actions: "a", status: "pending" }),
      action("all", { type: "composite", actions: "inner", status: "pending" }),
      shell("a", { status: "paused" }),
      shell("bad", { on_failure: "a" })
    )
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      const { plan } = yield* wake()
      assert.deepStrictEqual(world.started, ["bad"])
      const decision = plan.find(({ action: { id } }) => id === "all")
      assert.deepInclude(decision, { kind: "rest", reason: "the status of its member a is unknown" })
    }), { scripts: world.scripts })
  })
})
