import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import { replays } from "../kernel/TestSpace.ts"
import { action, fileOf, withAgent } from "./TestAgent.ts"

type Fields = Readonly<Record<string, string>>

const shell = (id: string, fields: Fields = {}, priority?: string): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields }, priority)

const composite = (id: string, actions: string, fields: Fields = {}): string =>
  action(id, { type: "composite", actions, status: "pending", ...fields })

/** Programs of which each fails a number of times before it succeeds, and the ones that were started. */
const programs = (failures: Readonly<Record<string, number>> = {}) => {
  const left = new Map(Object.entries(failures))
  const started: Array<string> = []
  const shell = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
    const id = argv[1] ?? ""
    started.push(id)
    const fails = left.get(id) ?? 0
    left.set(id, fails - 1)
    if (fails > 0) throw Channel.fail("shell/exit", "exit code 1")
    return { code: 0, stdout: "", stderr: "" }
  }
  return { started, scripts: { shell } }
}

describe("The members of a composite action", () => {
  it.effect("are skipped with a false condition, and count as done", () => {
    const { scripts, started } = programs()
    const file = fileOf(composite("all", "a, b, c"), shell("a"), shell("b", { condition: "file_exists:flag" }), shell("c"))
    return withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started, ["a", "c"])
      assert.deepInclude(fields("all"), { status: "completed", result: "2 of 3 completed, 1 skipped" })
      assert.strictEqual(fields("b")["status"], "skipped")
      yield* replays(space)
    }), { scripts })
  })

  it.effect("have their conditions decided when their turns come", () => {
    const { scripts, started } = programs({ a: 1 })
    const file = fileOf(
      composite("all", "a, b, c, d", { fail_fast: "false" }), shell("a"), shell("b", { condition: "action_failed:a" }),
      shell("c", { condition: "action_completed:a" }), shell("d", { condition: "any_failed" })
    )
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b", "d"])
    }), { scripts })
  })

  it.effect("block their composite action by an open dependency, and are skipped by a failed one", () => {
    const { scripts, started } = programs({ bad: 9 })
    const file = fileOf(
      composite("all", "a, b"), shell("a", { depends_on: "later" }), shell("b", { depends_on: "bad" }),
      shell("bad"), shell("later", { schedule: "at:2024-01-15T11:00:00Z" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual([started, fields("all")["status"]], [["bad"], "blocked"])
      yield* TestClock.adjust("30 minutes")
      yield* wake()
      assert.deepStrictEqual(started, ["bad", "later", "a"])
      assert.deepInclude(fields("all"), { status: "completed", result: "1 of 2 completed, 1 skipped" })
    }), { scripts })
  })

  it.effect("run after the members that they depend on, also at the same time", () => {
    const { scripts, started } = programs()
    const file = fileOf(composite("all", "a, b, c", { mode: "parallel" }), shell("a", { depends_on: "c" }), shell("b"), shell("c"))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.isAbove(started.indexOf("a"), started.indexOf("c"))
      assert.strictEqual(fields("all")["result"], "3 of 3 completed")
    }), { scripts })
  })

  it.effect("are tried again by the composite action, which goes on at that member", () => {
    const { scripts, started } = programs({ b: 2 })
    const file = fileOf(composite("all", "a, b, c"), shell("a"), shell("b", { retry: "3", retry_delay: "fixed:1m" }), shell("c"))
    return withAgent(file, ({ fields, space, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b"])
      assert.deepInclude(fields("all"), { status: "pending", next_retry: "2024-01-15T10:31:00Z" })
      assert.deepInclude(fields("b"), { status: "failed", retry_count: "1/3" })
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b"])
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b", "b"])
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b", "b", "b", "c"])
      assert.deepInclude(fields("all"), { status: "completed", result: "3 of 3 completed" })
      assert.deepStrictEqual((yield* wake()).ran, [])
      yield* replays(space)
    }), { scripts })
  })

  it.effect("that are completed do not run again in an own attempt of the composite action", () => {
    const { scripts, started } = programs({ b: 1 })
    const file = fileOf(composite("all", "a, b", { retry: "2", retry_delay: "fixed:1m" }), shell("a"), shell("b"))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepInclude(fields("all"), { status: "pending", retry_count: "1/2", error: "b failed" })
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual([started, fields("all")["status"]], [["a", "b", "b"], "completed"])
    }), { scripts })
  })

  it.effect("have their action of on_failure run once after their last attempt, before that of the composite action", () => {
    const { scripts, started } = programs({ a: 9 })
    const file = fileOf(
      composite("all", "a, b", { on_failure: "last" }),
      shell("a", { on_failure: "first", retry: "2", retry_delay: "fixed:1m" }),
      shell("b"),
      shell("first"), shell("last")
    )
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started, ["a"])
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual(started, ["a", "a", "first", "last"])
      yield* TestClock.adjust("1 hour")
      yield* wake()
      assert.strictEqual(started.length, 4)
    }), { scripts })
  })

  it.effect("run once in a wake, by themselves, as members of two composite actions, and in nested ones", () => {
    const { scripts, started } = programs()
    const file = fileOf(
      composite("one", "a, inner"), composite("two", "b, c"), composite("inner", "b"),
      shell("a", { schedule: "hourly" }, "HIGH"), shell("b"), shell("c", { schedule: "hourly" }, "LOW")
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b", "c"])
      assert.deepStrictEqual([fields("one")["result"], fields("two")["result"]], ["2 of 2 completed", "2 of 2 completed"])
      yield* TestClock.adjust("1 second")
      yield* wake()
      assert.deepStrictEqual(started, ["a", "b", "c"])
    }), { scripts })
  })
})
