import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { action, fileOf, withAgent } from "./TestAgent.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}, priority?: string): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields }, priority)

/** Programs that fail as long as they are in a set, and the ones that were started. */
const programs = (...failing: ReadonlyArray<string>) => {
  const world = { started: [] as Array<string>, failing: new Set(failing), scripts: {} }
  const run = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
    const id = argv[1] ?? ""
    world.started.push(id)
    if (world.failing.has(id)) throw Channel.fail("shell/exit", "exit code 1")
    return { code: 0, stdout: "", stderr: "" }
  }
  world.scripts = { shell: run }
  return world
}

const schedule = "every:1h"

describe("The turn of an action", () => {
  it.effect("is the time at which its condition is decided, and not the first plan of the wake", () => {
    const world = programs("backup")
    const file = fileOf(
      shell("backup", { schedule }),
      shell("alarm", { schedule, condition: "action_failed:backup" }),
      shell("any", { schedule, condition: "any_failed" }),
      shell("calm", { schedule, condition: "action_completed:backup" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["backup", "alarm", "any"])
      assert.strictEqual(fields("calm")["status"], "skipped")
      world.failing.clear()
      yield* TestClock.adjust("1 hour")
      yield* wake()
      assert.deepStrictEqual(world.started.slice(3), ["backup", "calm"])
    }), { scripts: world.scripts })
  })

  it.effect("comes after the programs beside it whose ends its condition reads", () => {
    const world = programs("backup")
    const file = fileOf(shell("backup", { schedule }), shell("alarm", { schedule, condition: "action_failed:backup" }))
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started, ["backup", "alarm"])
    }), { scripts: world.scripts, settings: { maxConcurrent: 4 } })
  })

  it.effect("comes after the last attempt of an action that its condition names", () => {
    const world = programs("backup")
    const file = fileOf(
      shell("backup", { schedule: "daily:10:30", retry: "2", retry_delay: "fixed:1m" }),
      shell("alarm", { schedule: "daily:10:30", condition: "action_failed:backup" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      yield* TestClock.adjust("1 day")
      yield* wake()
      assert.deepStrictEqual([world.started, fields("alarm")["status"]], [["backup"], "blocked"])
      yield* TestClock.adjust("1 minute")
      yield* wake()
      assert.deepStrictEqual(world.started, ["backup", "backup", "alarm"])
    }), { scripts: world.scripts })
  })

  it.effect("of an action that a failure calls comes only if its condition holds and its dependencies are completed", () => {
    const world = programs("a", "bad")
    const file = fileOf(
      shell("a", { on_failure: "held" }), shell("bad"), shell("good"),
      shell("held", { condition: "file_exists:flag" }),
      shell("b", { command: "echo a", on_failure: "ready" }), shell("ready", { depends_on: "good" }),
      shell("c", { command: "echo a", on_failure: "never" }), shell("never", { depends_on: "bad" })
    )
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(world.started.filter((id) => ["held", "ready", "never"].includes(id)), ["ready"])
      assert.strictEqual(fields("never")["status"], "pending")
    }), { scripts: world.scripts })
  })

  it.effect("of an action that others call does not come in a forced wake by itself", () => {
    const world = programs()
    const file = fileOf(shell("a", { on_failure: "b" }), shell("b"), action("all", { type: "composite", actions: "c" }), shell("c"))
    return withAgent(file, ({ wake }) => Effect.gen(function*() {
      yield* wake({ forced: "all" })
      assert.deepStrictEqual(world.started.toSorted(), ["a", "c"])
    }), { scripts: world.scripts })
  })

  it("never comes for actions that call each other in a circle: that is an error", () => {
    const circles = (...blocks: ReadonlyArray<string>) =>
      ControlFiles.parse(fileOf(...blocks)).issues.map(({ code, message }) => `${code} ${message.split(": ").at(-1)}`)
    assert.deepStrictEqual(circles(shell("a", { on_failure: "a" })), ["agent/dependency-cycle a → a"])
    assert.deepStrictEqual(circles(shell("a", { on_failure: "b" }), shell("b", { on_failure: "a" }), shell("c", { on_failure: "a" })), [
      "agent/dependency-cycle a → b → a", "agent/dependency-cycle a → b → a"
    ])
    const all = action("all", { type: "composite", actions: "a" })
    assert.deepStrictEqual(circles(all, shell("a", { on_failure: "all" })).length, 2)
    assert.deepStrictEqual(circles(shell("a", { on_failure: "c" }), shell("b", { on_failure: "c" }), shell("c")), [])
  })
})
