import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel } from "systole"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { action, type Agent, fileOf, START, withAgent } from "./TestAgent.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

const shell = (id: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields })

/** A channel that keeps the programs it started. */
const programs = (failing: ReadonlyArray<string> = []) => {
  const started: Array<string> = []
  const run = (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
    started.push(argv[1] ?? "")
    if (failing.includes(argv[1] ?? "")) throw Channel.fail("shell/exit", "exit code 1")
    return { code: 0, stdout: "", stderr: "" }
  }
  return { started, scripts: { shell: run } }
}

/** Sets the clock of the host by so many milliseconds. */
const step = (millis: number) => Effect.flatMap(Clock.currentTimeMillis, (now) => TestClock.setTime(now + millis))

/** Wakes again and again, with a pause before each, and returns the ids of the actions that the reports tell as run. */
const wakes = Effect.fnUntraced(function*({ wake }: Agent, count: number, pause: number) {
  const told: Array<string> = []
  for (let i = 0; i < count; i++) {
    yield* TestClock.adjust(pause)
    for (const { action: { id } } of (yield* wake()).ran) told.push(id)
  }
  return told
})

describe("A clock that is set back", () => {
  it.effect("runs an interval once in each interval, and tells no other run", () => {
    const world = programs()
    return withAgent(fileOf(shell("a", { schedule: "every:10s" })), (agent) => Effect.gen(function*() {
      yield* wakes(agent, 3, 10_000)
      yield* step(-2 * HOUR)
      world.started.length = 0
      const told = yield* wakes(agent, 40, 1_000)
      assert.deepStrictEqual(told, world.started)
      assert.isAtLeast(told.length, 4)
      assert.isAtMost(told.length, 5)
    }), world)
  })

  it.effect("fires a cron expression at its times, also one that never fired before", () => {
    const world = programs()
    const file = fileOf(shell("a", { schedule: "cron:*/5 * * * *" }), shell("b", { schedule: "cron:40 * * * *" }))
    return withAgent(file, (agent) => Effect.gen(function*() {
      yield* wakes(agent, 6, 60_000)
      assert.deepStrictEqual(world.started, ["a"])
      yield* step(-2 * HOUR)
      const told = yield* wakes(agent, 60, 60_000)
      assert.deepStrictEqual(told, world.started.slice(1))
      assert.deepStrictEqual([told.filter((id) => id === "a").length, told.filter((id) => id === "b").length], [12, 1])
    }), world)
  })

  it.effect("runs a daily action each day after it was set back by 12 days", () => {
    const world = programs()
    return withAgent(fileOf(shell("a", { schedule: "daily:02:00" })), (agent) => Effect.gen(function*() {
      yield* wakes(agent, 16, 3 * HOUR)
      assert.strictEqual(world.started.length, 2)
      yield* step(-12 * DAY)
      const told = yield* wakes(agent, 20 * 4, 6 * HOUR)
      assert.deepStrictEqual(told, world.started.slice(2))
      assert.strictEqual(told.length, 20)
    }), world)
  })

  it.effect("keeps the delays of attempts, and writes times of the host's clock into the file", () => {
    const world = programs(["a"])
    return withAgent(fileOf(shell("b"), shell("a", { retry: "3", retry_delay: "fixed:1m" })), (agent) => Effect.gen(function*() {
      yield* agent.wake()
      yield* step(-2 * HOUR)
      yield* agent.wake()
      assert.deepInclude(agent.fields("a"), { failed_at: "2024-01-15T08:30:00Z", next_retry: "2024-01-15T08:31:00Z", retry_count: "2/3" })
      yield* wakes(agent, 5, 10_000)
      assert.deepStrictEqual(world.started, ["b", "a", "a"])
      yield* wakes(agent, 1, 10_000)
      assert.deepStrictEqual(world.started, ["b", "a", "a", "a"])
    }), world)
  })

  it.effect("or ahead tells each run that was and no other one, and lets each schedule go on", () =>
    Effect.gen(function*() {
      for (const seed of Trials.seeds(16, { least: 2 })) {
        const draw = Random.make(seed)
        const world = programs()
        const schedules = ["every:10s", "every:7m", "hourly", "cron:*/5 * * * *", "cron:*/20 * * * *"]
        const file = fileOf(...schedules.map((schedule, i) => shell(`a${i}`, { schedule })))
        yield* withAgent(file, (agent) => Effect.gen(function*() {
          for (let steps = 0; steps < 4; steps++) {
            const told = yield* wakes(agent, 3 + draw(5), Random.pick(draw, [1_000, 10_000, 300_000, 3_600_000]))
            yield* step(Random.pick(draw, [2 * HOUR, -2 * HOUR, 12 * DAY, -12 * DAY, -1_000, -30_000, 86_400_000]))
            assert.deepStrictEqual(told.toSorted(), world.started.splice(0).toSorted(), `seed ${seed}`)
          }
          // An interval of an hour that ran shortly before a small step back waits for its rest, and for the step.
          const last = yield* wakes(agent, 16, 600_000)
          assert.deepStrictEqual(new Set(last), new Set(schedules.map((_, i) => `a${i}`)), `seed ${seed}`)
          assert.deepStrictEqual(last.toSorted(), world.started.toSorted(), `seed ${seed}`)
        }), world)
      }
    }))

  it.effect("begins at once again where its last run lies ahead by more than an interval", () => {
    const world = programs()
    return withAgent(fileOf(shell("a", { schedule: "every:1h" })), (agent) => Effect.gen(function*() {
      for (let day = 0; day < 5; day++) {
        yield* TestClock.setTime(START)
        yield* wakes(agent, 3, HOUR)
      }
      assert.isAtLeast(world.started.length, 13)
    }), world)
  })
})
