import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import { action, type Agent, fileOf, PATH, withAgent } from "./TestAgent.ts"

const shell = (id: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields })

/** A channel that keeps the programs it started, and calls a function while one runs. */
const programs = (failing: ReadonlyArray<string> = []) => {
  const started: Array<string> = []
  const world = { started, during: (_: string): void => {}, scripts: {} }
  world.scripts = {
    shell: (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      const id = argv[1] ?? ""
      started.push(id)
      world.during(id)
      if (failing.includes(id)) throw Channel.fail("shell/exit", "exit code 1")
      return { code: 0, stdout: "", stderr: "" }
    }
  }
  return world
}

/** The ways in which an older version of the file comes back after a wake. */
const ways: ReadonlyArray<readonly [string, (agent: Agent, before: string) => void]> = [
  ["an editor saves a buffer from before the wake", ({ disk }, before) => disk.save(PATH, before)],
  ["a backup is copied over it", ({ disk }) => {
    const [name = ""] = disk.list("/home/ann/history")
    disk.replace(PATH, disk.text(`/home/ann/history/${name}`) ?? "")
  }],
  ["a person moves its blocks and adds one in an older version", ({ disk }, before) =>
    disk.replace(PATH, before.replace(shell("b"), "").replace("## Notes", `${shell("b")}\n${shell("d")}\n## Notes`))]
]

describe("An older copy of a control file", () => {
  it.effect.each(ways)("runs no finished action again, and has its status, where %s", ([, restore]) => {
    const world = programs(["b"])
    return withAgent(fileOf(shell("a"), shell("b"), shell("c", { schedule: "every:1h" })), (agent) => Effect.gen(function*() {
      const { fields, text, wake } = agent
      const before = text()
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "b", "c"])
      const after = ["a", "b", "c"].map(fields)
      yield* TestClock.adjust("1 minute")
      restore(agent, before)
      const { older } = yield* wake()
      assert.deepStrictEqual(world.started.slice(3), text().includes("id**: d") ? ["d"] : [])
      assert.deepStrictEqual(["a", "b", "c"].map(fields), after)
      assert.deepStrictEqual(older, ["a", "b"])
      assert.deepStrictEqual((yield* wake()).older, [])
    }), { scripts: world.scripts })
  })

  it.effect("keeps the end of an action during which it was saved", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), ({ disk, fields, text, wake }) => Effect.gen(function*() {
      const before = text()
      world.during = (id) => void (id === "a" && disk.save(PATH, before.replace("Mine.", "Mine, later.")))
      yield* wake()
      assert.deepStrictEqual([fields("a")["status"], fields("b")["status"]], ["completed", "completed"])
      assert.include(text(), "Mine, later.")
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "b"])
    }), { scripts: world.scripts })
  })

  it.effect("is told of by a dry wake, which writes nothing", () => {
    const world = programs()
    return withAgent(fileOf(shell("a")), ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      disk.save(PATH, before)
      const { older, plan } = yield* wake({ isDry: true })
      assert.deepStrictEqual([older, plan.map(({ kind }) => kind), text()], [["a"], ["rest"], before])
    }), { scripts: world.scripts })
  })

  it.effect("goes on with the attempts of an action that failed", () => {
    const world = programs(["a"])
    return withAgent(fileOf(shell("a", { retry: "2", retry_delay: "fixed:1m" })), ({ disk, fields, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      disk.save(PATH, before)
      yield* wake()
      assert.deepInclude(fields("a"), { status: "pending", retry_count: "1/2" })
      yield* TestClock.adjust("1 minute")
      yield* wake()
      disk.save(PATH, before)
      yield* wake()
      assert.deepInclude(fields("a"), { status: "failed", retry_count: "2/2" })
      assert.deepStrictEqual(world.started, ["a", "a"])
    }), { scripts: world.scripts })
  })

  it.effect("that waits for a dependency runs no finished action again, nor tells that it ran", () => {
    const world = programs()
    return withAgent(fileOf(shell("a", { depends_on: "b" }), shell("b")), ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      disk.save(PATH, before.replace("pending", "blocked"))
      assert.deepStrictEqual((yield* wake()).ran, [])
      assert.deepStrictEqual(world.started, ["b", "a"])
    }), { scripts: world.scripts })
  })

  it.effect("differs from a changed block, and from a status that a person set beside its stamp, which are new orders", () => {
    const world = programs()
    return withAgent(fileOf(shell("a"), shell("b")), ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      disk.save(PATH, before.replace("echo a", "echo other"))
      yield* wake()
      assert.deepStrictEqual(world.started, ["a", "b", "other"])
      disk.save(PATH, text().replace("- **status**: completed", "- **status**: pending"))
      assert.deepStrictEqual((yield* wake()).older, [])
      assert.deepStrictEqual(world.started, ["a", "b", "other", "other"])
    }), { scripts: world.scripts })
  })

  it.effect("of a day before adds no line of that day to Completed Today", () => {
    const world = programs()
    return withAgent(fileOf(shell("a")), ({ disk, text, wake }) => Effect.gen(function*() {
      const before = text()
      yield* wake()
      yield* TestClock.adjust("2 days")
      disk.save(PATH, before)
      yield* wake()
      assert.notInclude(text(), "- [x] a")
      assert.include(text(), "- **completed_at**: 2024-01-15T10:30:00Z")
    }), { scripts: world.scripts })
  })
})
