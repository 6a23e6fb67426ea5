/**
 * An agent that stays does what one does that finds out everything again at each wake, and a wake of it with nothing due reads no
 * file and plans nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import { Memory } from "../../plugins/agent/wake/Memory.ts"
import type { Order } from "../../plugins/agent/order/Order.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { action, fileOf, KEY, PATH, START } from "./TestAgent.ts"

/** The state of the world outside of an agent. */
interface Surroundings {
  startup: string
  settings: Settings.Settings
  types: ReadonlyArray<string>
  /** Whether attempts fail. */
  isBroken: boolean
}

const begin = (): Surroundings => ({ startup: "1", settings: Settings.defaults, types: ["shell", "http", "composite"], isBroken: false })

/** A file with its cells. Each attempt ends at once. */
class World {
  readonly disk = new MemoryDisk()
  readonly cells = new Map<string, unknown>()
  readonly surroundings: Surroundings
  /** The names of the calls of the disk and the ledger, in their order. */
  calls: Array<string> = []
  private readonly memory: Memory | undefined

  constructor(text: string, surroundings: Surroundings, memory: Memory | undefined) {
    this.disk.save(PATH, text)
    this.disk.before = (operation) => void this.calls.push(operation)
    this.surroundings = surroundings
    this.memory = memory
  }

  private readonly list = (cell: string): ReadonlyArray<string> =>
    [...this.cells.keys()].filter((each) => each.startsWith(`${cell}/`)).map((each) => each.slice(cell.length + 1))

  private readonly send = Effect.fnUntraced({ self: this }, function*(this: World, order: Order, event: string) {
    const { action, attempt, attempts, file, occurrence, pendings } = order
    const now = yield* Clock.currentTimeMillis
    const ended = this.surroundings.isBroken
      ? { status: "failed", failure: { code: "agent/exit", message: "it ended with 1" } }
      : { status: "completed", result: "fine" }
    const record = { action, event, occurrence, attempt, attempts, pendings, startedAt: now, finishedAt: now, ...ended }
    this.cells.set(Record.cell(file, action), record)
    return "handled" as const
  })

  private get ledger(): SpaceClient["Service"] {
    const call = <A>(name: string, run: () => A): Effect.Effect<A> => Effect.sync(() => {
      this.calls.push(name)
      return run()
    })
    return {
      queries: Effect.sync(() => this.surroundings.types.map((type) => `/signals/agent/${type}`)),
      get: (cell) => call("get", () => this.cells.get(cell)),
      all: (cell) => call("all", () => this.list(cell).map((name) => this.cells.get(`${cell}/${name}`))),
      list: (cell) => call("names", () => this.list(cell)),
      set: (cell, value) => call("set", () => void this.cells.set(cell, structuredClone(value))),
      remove: (cell) => call("remove", () => void this.cells.delete(cell)),
      changed: () => Effect.void,
      send: ({ id, payload }) => this.send(payload as Order, id)
    }
  }

  readonly wake = Effect.fnUntraced({ self: this }, function*(this: World, isDry: boolean = false) {
    this.calls = []
    const { memory, surroundings: { settings, startup } } = this
    const host = Layer.mergeAll(Layer.succeed(Disk, this.disk.service()), HashLayer.layer, Layer.succeed(SpaceClient, this.ledger))
    const services = Layer.fresh(Layer.provideMerge(FileStore.layer(PATH), host))
    return yield* Wake.run({ settings, startup, isDry, ...memory === undefined ? {} : { memory } }).pipe(
      Effect.provide(services),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ SHELL_IS_SET: "yes" }))
    )
  })
}

/** The parts of a report that a person sees. */
const shown = ({ copies, hasNewSettings, held, isWritten, issues, nextDue, plan, ran }: Wake.Report) => ({
  copies, hasNewSettings, isWritten, nextDue,
  held: held.map(({ action, hash }) => [action.id, hash]),
  issues: issues.map(({ code }) => code),
  plan: plan.map(({ action, ...decision }) => ({ ...decision, id: action.id, occurrence: undefined })),
  ran: ran.map(({ action, record }) => [action.id, record])
})

const CONDITIONS = [
  "", "", "", "file_exists:flag", "time_after:10:31", "time_before:11:00 AND NOT any_failed", "action_failed:a0", "env_set:HOME"
]

const SCHEDULES = [
  "every:1m", "every:7s", "cron:*/2 * * * *", "at:2024-01-15T10:31:00Z", "daily:10:32", "startup", "on_change:config.json", ""
]

const blockOf = (draw: Random.Random, id: number): string => {
  const schedule = Random.pick(draw, SCHEDULES)
  const condition = Random.pick(draw, CONDITIONS)
  return action(`a${id}`, {
    type: Random.pick(draw, ["http", "http", "shell", "later"]),
    url: "http://example.com",
    command: "echo",
    status: "pending",
    ...schedule === "" ? {} : { schedule },
    ...condition === "" ? {} : { condition },
    ...draw(3) === 0 ? { retry: "3", retry_delay: "linear:20s" } : {},
    ...id > 0 && draw(4) === 0 ? { depends_on: `a${draw(id)}` } : {},
    ...id > 0 && draw(6) === 0 ? { on_failure: `a${draw(id)}` } : {}
  }, Random.pick(draw, ["CRITICAL", "HIGH", "MEDIUM", "LOW", "BG"]))
}

type Change = (draw: Random.Random, worlds: ReadonlyArray<World>, surroundings: Surroundings) => Effect.Effect<void>

const both = (change: (world: World) => void): Change => (_, worlds) => Effect.sync(() => worlds.forEach(change))

/** A person sets the status of an action, the same one in all worlds. */
const edit: Change = (draw, worlds) => {
  const id = `a${draw(6)}`
  const status = Random.pick(draw, ["pending", "completed", "paused", "running"])
  const pattern = new RegExp(`(\\*\\*id\\*\\*: ${id}\\n(?:- .*\\n)*?- \\*\\*status\\*\\*: )\\w+`)
  return Effect.sync(() => {
    for (const { disk } of worlds) disk.save(PATH, disk.text(PATH)!.replace(pattern, `$1${status}`))
  })
}

/** A person approves an action, by the hash of its block. */
const approve: Change = (draw, worlds) =>
  Effect.gen(function*() {
    const [, other] = worlds
    const { held } = yield* Effect.orDie(other!.wake(true))
    if (held.length === 0) return
    const { hash } = Random.pick(draw, held)
    for (const { cells } of worlds) cells.set(Record.approval(KEY, hash), {})
  })

const CHANGES: ReadonlyArray<Change> = [
  () => TestClock.adjust("1 second"),
  (draw) => TestClock.adjust(draw(15_000)),
  (draw) => TestClock.adjust(draw(90_000)),
  (draw) => Effect.flatMap(Clock.currentTimeMillis, (now) => TestClock.setTime(now - draw(30_000))),
  both(({ disk }) => disk.save(PATH, disk.text(PATH)!)),
  edit,
  edit,
  both(({ disk }) => disk.save("/home/ann/flag", "")),
  both(({ disk }) => void disk.names.delete("/home/ann/flag")),
  (draw, worlds) => {
    const text = `${draw(3)}`
    return Effect.sync(() => worlds.forEach(({ disk }) => disk.save("/home/ann/config.json", text)))
  },
  approve,
  (draw, _, surroundings) => Effect.sync(() => void (surroundings.startup = `${draw(3)}`)),
  (_, __, surroundings) => Effect.sync(() => void (surroundings.isBroken = !surroundings.isBroken)),
  (_, __, surroundings) => Effect.sync(() => void (surroundings.types = [...surroundings.types.slice(0, 3), "later"])),
  (draw, _, surroundings) => Effect.sync(() => {
    surroundings.settings = { ...Settings.defaults, maxConcurrent: 1 + draw(2), approval: draw(2) === 0 ? "hold" : "none" }
  })
]

const texts = ({ disk }: World): ReadonlyArray<unknown> =>
  [...disk.names].filter(([, { bytes }]) => bytes.length > 0).map(([name]) => [name, disk.text(name)])

describe("The memory of an agent that stays", () => {
  it.effect("changes no wake of any history of edits, approvals, facts and clocks", () =>
    Effect.gen(function*() {
      let quiet = 0
      const seeds = Trials.seeds(80, { from: 1, least: 8 })
      for (const seed of seeds) {
        yield* TestClock.setTime(START)
        const draw = Random.make(seed)
        const text = fileOf(...Array.from({ length: 6 }, (_, id) => blockOf(draw, id)))
        const surroundings = begin()
        const memory = new Memory()
        const kept = new World(text, surroundings, memory)
        const fresh = new World(text, surroundings, undefined)
        for (let step = 0; step < 25; step++) {
          const before = memory.quiet?.report.plan
          const report = yield* kept.wake()
          assert.deepStrictEqual(shown(report), shown(yield* fresh.wake()), `seed ${seed}, step ${step}`)
          assert.deepStrictEqual(texts(kept), texts(fresh), `seed ${seed}, step ${step}`)
          assert.deepStrictEqual(kept.cells, fresh.cells, `seed ${seed}, step ${step}`)
          if (report.plan === before) quiet++
          yield* Random.pick(draw, CHANGES)(draw, [kept, fresh], surroundings)
        }
      }
      assert.isAbove(quiet, 2 * seeds.length)
    }))

  it.effect("spares a wake with nothing due the file, its plan, and all cells but the approvals", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const hourly = { type: "http", url: "http://x", schedule: "hourly", status: "pending" }
      const blocks = Array.from({ length: 20 }, (_, i) => action(`a${i}`, hourly))
      const world = new World(fileOf(...blocks), begin(), new Memory())
      yield* world.wake()
      const { plan } = yield* world.wake()
      yield* TestClock.adjust("2 minutes")
      // This one removes the versions aside.
      yield* world.wake()
      const report = yield* world.wake()
      assert.strictEqual(report.plan, plan)
      assert.deepStrictEqual(world.calls.toSorted(), ["list", "names", "version", "version"])
    }))

  it.effect("looks at a condition again in the minute in which it may change", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const block = action("a", { type: "http", url: "http://x", condition: "time_after:10:31", status: "pending" })
      const world = new World(fileOf(block), begin(), new Memory())
      const { plan, ran } = yield* world.wake()
      assert.deepStrictEqual(ran, [])
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* world.wake()).plan, plan)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* world.wake()).ran.map((each) => each.action.id), ["a"])
    }))

  it.effect("parses bytes once, also where the file was touched", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(START)
      const text = fileOf(action("a", { type: "http", url: "http://x", schedule: "at:2100-01-01T00:00:00Z", status: "pending" }))
      const world = new World(text, begin(), new Memory())
      const first = yield* world.wake()
      world.disk.replace(PATH, text)
      const touched = yield* world.wake()
      assert.strictEqual(touched.plan, first.plan)
      world.disk.replace(PATH, text.replace("2100", "2099"))
      const edited = yield* world.wake()
      assert.strictEqual(edited.nextDue, Date.UTC(2099, 0, 1))
    }))

  it.effect("has each save that comes between two calls of a wake", () =>
    Effect.gen(function*() {
      let seen = 0
      for (const isDue of [false, true]) {
        for (let place = 1; place <= 40; place++) {
          yield* TestClock.setTime(START)
          const text = (year: number) => fileOf(
            action("a", { type: "http", url: "http://x", schedule: `at:${year}-01-01T00:00:00Z`, status: "pending" }),
            action("b", { type: "http", url: "http://x", schedule: "every:1h", status: "pending" })
          )
          const world = new World(text(2100), begin(), new Memory())
          yield* world.wake()
          yield* world.wake()
          if (isDue) yield* TestClock.adjust("1 hour")
          let calls = 0
          const { before } = world.disk
          world.disk.before = (operation, path) => {
            before(operation, path)
            if (++calls === place) world.disk.replace(PATH, world.disk.text(PATH)?.replace("2100", "2099") ?? text(2099))
          }
          yield* world.wake()
          if (calls < place) break
          const { plan } = yield* world.wake(true)
          const planned = plan.some(({ action: { schedule } }) => schedule.kind === "at" && schedule.moment === Date.UTC(2099, 0, 1))
          const copies = [...world.disk.names.keys()].filter((name) => name.includes("conflict"))
          const isCopied = copies.some((name) => world.disk.text(name)?.includes("2099"))
          assert.isTrue(planned || isCopied, `${isDue ? "due" : "quiet"}, call ${place}`)
          seen += Number(planned)
        }
      }
      assert.isAbove(seen, 20)
    }))
})
