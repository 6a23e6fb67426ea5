/**
 * Wakes beside a person, saves by every route, with ends of the process between two calls, full disks and clocks that are
 * set: no occurrence runs twice, none is told without its run, no save is lost, and the file is valid or named.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { ControlStore } from "../../plugins/agent/store/ControlStore.ts"
import { Disk, DiskFailed } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { SpaceClient } from "../../plugins/agent/order/SpaceClient.ts"
import * as Schedule from "../../plugins/agent/schedule/Schedule.ts"
import * as Settings from "../../plugins/agent/wake/Settings.ts"
import * as Wake from "../../plugins/agent/wake/Wake.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { FaultySpaceClient } from "./FaultySpaceClient.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { RandomPerson } from "./RandomPerson.ts"
import { action, fileOf, moving, PATH } from "./TestAgent.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Shortly before a change of clocks, with its zone. */
const worlds = [
  ["Europe/Vienna", Date.UTC(2026, 2, 28, 20)],
  ["America/New_York", Date.UTC(2026, 9, 31, 20)],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 4, 6)]
] as const

const RECURRING = { e: "every:10m", h: "hourly", c: "cron:*/15 * * * *", d: "daily:02:15" }

const shell = (id: string, fields: Readonly<Record<string, string>> = {}): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields }, "HIGH")

/** The process was killed: none of its calls happens any more. */
class Killed extends Error {}

/** The fate of a process: it dies before one of its calls, or the disk is full from one on. */
interface Fate {
  readonly killAt: number
  readonly fullAt: number
}

const NEVER = Number.POSITIVE_INFINITY

class World {
  readonly disk = new MemoryDisk()
  readonly ledger: FaultySpaceClient
  readonly person: RandomPerson
  readonly draw: Random.Random
  /** The numbers of starts at which the clock was set. */
  readonly steps: Array<number> = []
  readonly zone: string
  readonly start: number
  /** The steps of the clock together, in milliseconds. */
  private skew = 0
  private processes = 1

  constructor(seed: number) {
    const draw = Random.make(seed)
    const [zone, start] = Random.pick(draw, worlds)
    this.draw = draw
    this.zone = zone
    this.start = start
    this.ledger = new FaultySpaceClient(draw)
    this.person = new RandomPerson(this.disk, draw)
    const recurring = Object.entries(RECURRING).map(([id, schedule]) => shell(id, { schedule, timezone: zone }))
    this.disk.save(PATH, fileOf(...recurring, shell("n0")))
    this.person.orders.set("n0", 1)
    this.person.open()
    this.ledger.during = () => this.passed(this.draw(20_000))
  }

  /** Lets time pass, and perhaps sets the clock. No save in pieces lasts as long, because replaced versions stay for one minute. */
  readonly passed = Effect.fnUntraced({ self: this }, function*(this: World, millis: number) {
    this.person.finish()
    yield* TestClock.adjust(millis)
    if (this.draw(5) === 0) yield* this.set()
  })

  /** Sets the clock, within two weeks around the begin. Timers that run go on as they are. */
  readonly set = Effect.fnUntraced({ self: this }, function*(this: World) {
    const step = Random.pick(this.draw, [2 * HOUR, -2 * HOUR, 12 * DAY, -12 * DAY, HOUR])
    const to = (yield* Clock.currentTimeMillis) + step
    if (Math.abs(to - this.start) > 14 * DAY) return
    this.steps.push(this.ledger.starts.length)
    this.skew += step
  })

  /** Lets the clock of the world rule, from its start on. */
  live<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return TestClock.testClockWith((clock) => {
      const millis = (): number => clock.currentTimeMillisUnsafe() + this.skew
      const own: TestClock.TestClock = { ...clock, currentTimeMillisUnsafe: millis, currentTimeMillis: Effect.sync(millis) }
      return Effect.andThen(clock.setTime(this.start), Effect.provideService(effect, Clock.Clock, own))
    })
  }

  /** Runs a wake, with its lease, in a new process. */
  readonly wake = Effect.fnUntraced({ self: this }, function*(this: World, { fullAt, killAt }: Fate, isAlone: boolean) {
    const pid = ++this.processes
    let calls = 0
    let isDead = false
    const before = (operation: string, path: string): void => {
      if (isDead || ++calls === killAt) {
        isDead = true
        throw new Killed(operation)
      }
      this.person.look()
      if (!isAlone && this.draw(25) === 0) this.person.act()
      const isWrite = operation === "create" || operation === "link"
      if (calls >= fullAt && isWrite) throw new DiskFailed({ operation, path, reason: "ENOSPC" })
    }
    this.disk.before = before
    this.disk.alive.add(pid)
    const services = Layer.mergeAll(
      Layer.succeed(Disk, this.disk.service({ pid, host: "here" })),
      HashLayer.layer,
      Layer.succeed(SpaceClient, this.ledger.service((call) => before(call, "")))
    )
    const settings = { ...Settings.defaults, approval: "none" as const }
    const run = Effect.gen(function*() {
      const store = yield* ControlStore
      yield* store.lease("wake")
      return yield* Wake.run({ startup: `${pid}`, settings })
    })
    const exit = yield* moving(Effect.exit(Effect.scoped(run).pipe(
      Effect.provide(Layer.fresh(Layer.provideMerge(FileStore.layer(PATH), services)))
    )))
    this.disk.before = () => {}
    this.disk.alive.delete(pid)
    if (Exit.isFailure(exit) && Cause.hasDies(exit.cause) && !isDead) assert.fail(Cause.pretty(exit.cause))
    return { exit, isDead }
  })
}

const visible = ({ disk }: World): ReadonlyArray<string> => {
  const names = disk.list("/home/ann").filter((name) => !name.startsWith(".") && !name.endsWith(".lock"))
  return names.map((name) => disk.text(`/home/ann/${name}`) ?? "")
}

/** The starts of an action, each with whether the clock was set since the one before. */
const startsOf = ({ ledger: { starts }, steps }: World, id: string) => {
  // An order may be given before the clock is set, and begin after that.
  let last = -1
  return starts.flatMap((start, i) => {
    if (start.action !== id) return []
    const isSet = steps.some((step) => step >= last && step <= i + 1)
    last = i
    return [{ ...start, isSet }]
  })
}

/** Each order ran at most once, and each time of a schedule at most once while the clock was not set. */
const checkStarts = (world: World, shown: string): void => {
  const ids = new Set(world.ledger.starts.map((start) => `${start.action} ${start.occurrence} ${start.attempt}`))
  assert.strictEqual(ids.size, world.ledger.starts.length, shown)
  for (const [id, orders] of world.person.orders) {
    const found = world.ledger.starts.filter((start) => start.action === id)
    // A save that was cut off may have a part of a block, which is another order.
    const counts = Object.values(Object.groupBy(found, ({ digest }) => digest)).map((starts = []) => starts.length)
    assert.isAtMost(Math.max(0, ...counts), orders, `${shown}: ${id} ran by ${found.map(({ occurrence }) => occurrence).join()}`)
  }
  for (const [id, text] of Object.entries(RECURRING)) {
    const schedule = Schedule.parse(text, world.zone)
    if ("refused" in schedule) return assert.fail(schedule.refused)
    const starts = startsOf(world, id)
    for (const [i, { at, digest, isSet }] of starts.entries()) {
      const before = starts[i - 1]
      if (before === undefined || isSet || digest !== before.digest || digest !== starts[0]?.digest) continue
      assert.isAtLeast(at, Schedule.next(schedule, before.at) ?? 0, `${shown}: ${id} at ${new Date(at).toISOString()}`)
    }
  }
}

/** The actions that a report or the file tells as completed were started. */
const checkTold = ({ disk, ledger: { starts } }: World, ran: ReadonlyArray<Wake.Ran>, shown: string): void => {
  const started = new Set(starts.map((start) => `${start.action} ${start.occurrence} ${start.attempt}`))
  for (const { action: { id }, record } of ran) {
    if (record.status === "completed") assert.isTrue(started.has(`${id} ${record.occurrence} ${record.attempt}`), `${shown}: ${id} is told`)
  }
  for (const { id, status } of ControlFiles.parse(disk.text(PATH) ?? "").actions) {
    if (status === "completed") assert.isTrue(starts.some((start) => start.action === id), `${shown}: ${id} is written`)
  }
}

/** One wake with random faults, some time later. */
const lived = Effect.fnUntraced(function*(world: World, shown: string) {
  const { draw, person } = world
  yield* world.passed(Random.pick(draw, [1_000, 60_000, 600_000, 3_600_000]))
  if (draw(2) === 0) person.act()
  const killAt = draw(3) === 0 ? 1 + draw(90) : NEVER
  const own = world.disk.names.get(PATH)?.bytes === person.own ? person.own : undefined
  const { exit, isDead } = yield* world.wake({ killAt, fullAt: draw(8) === 0 ? draw(40) : NEVER }, false)
  checkStarts(world, shown)
  if (isDead) return
  checkTold(world, Exit.isSuccess(exit) ? exit.value.ran : [], shown)
  if (own !== undefined && person.own === own) {
    assert.deepStrictEqual(world.disk.names.get(PATH)?.bytes, own, `${shown}: a file in another encoding stays`)
    assert.isTrue(Exit.isFailure(exit), `${shown}: it is named`)
  }
})

/** A wake that is killed before one of its calls, and two others after it. True if the wake has fewer calls. */
const killedIn = Effect.fnUntraced(function*(world: World, killAt: number, isAgain: boolean) {
  world.ledger.during = () => Effect.void
  world.ledger.isFailing = () => false
  world.disk.save(PATH, fileOf(shell("a"), shell("b", { schedule: "every:1h" })))
  const alone = { killAt: NEVER, fullAt: NEVER }
  if (isAgain) {
    yield* world.wake(alone, true)
    world.disk.save(PATH, world.disk.text(PATH)?.replace("completed", "pending") ?? "")
    yield* TestClock.adjust("1 hour")
  }
  const { isDead } = yield* world.wake({ killAt, fullAt: NEVER }, true)
  for (let wake = 0; wake < 2; wake++) {
    yield* TestClock.adjust("1 second")
    const { exit } = yield* world.wake(alone, true)
    checkTold(world, Exit.isSuccess(exit) ? exit.value.ran : [], `kill before call ${killAt}`)
  }
  const statuses = ControlFiles.parse(world.disk.text(PATH) ?? "").actions.map(({ id, status }) => `${id} ${status}`)
  const starts = ["a", "b"].map((id) => world.ledger.starts.filter((start) => start.action === id).length)
  const expected = isAgain ? [2, 2] : [1, 1]
  const shown = `${isAgain ? "again, " : ""}killed before call ${killAt}`
  assert.deepStrictEqual([statuses, starts], [["a completed", "b pending"], expected], shown)
  return !isDead
})

const killed = (killAt: number, isAgain: boolean) => {
  const world = new World(killAt)
  return world.live(killedIn(world, killAt, isAgain))
}

/** Wakes with faults, and later ones without, which finish the work. */
const life = Effect.fnUntraced(function*(world: World, seed: number) {
  for (let wake = 0; wake < 40; wake++) yield* lived(world, `seed ${seed}, wake ${wake}`)
  world.person.heal()
  const count = world.ledger.starts.length
  for (let wake = 0; wake < 30; wake++) {
    yield* TestClock.adjust("10 minutes")
    const { exit } = yield* world.wake({ killAt: NEVER, fullAt: NEVER }, true)
    const shown = `seed ${seed}, at rest, wake ${wake}`
    checkStarts(world, shown)
    if (Exit.isFailure(exit)) return assert.fail(`${shown}: ${Cause.pretty(exit.cause)}`)
    checkTold(world, exit.value.ran, shown)
  }
  const shown = `seed ${seed}, at its end`
  const file = ControlFiles.parse(world.disk.text(PATH) ?? "")
  assert.isFalse(ControlFiles.isDamaged(file), shown)
  const last = new Set(world.ledger.starts.slice(count).map((start) => start.action))
  for (const { id } of file.actions) {
    if (id in RECURRING) assert.isTrue(id === "d" || last.has(id), `${shown}: ${id} goes on`)
    else assert.isTrue(world.ledger.starts.some((start) => start.action === id), `${shown}: ${id} ran`)
  }
  for (const mark of world.person.expected) {
    assert.isTrue(visible(world).some((text) => text.includes(mark)), `${shown}: ${mark} is lost`)
  }
})

/** A wake of two actions has fewer calls. */
const MOST_CALLS = 100

describe("Wakes beside a person, with faults", () => {
  it.effect("run each order once that a wake was about to run, wherever it is killed", () =>
    Effect.gen(function*() {
      const calls = Array.from({ length: MOST_CALLS }, (_, i) => i + 1)
      for (const isAgain of [false, true]) {
        for (const call of Trials.some(calls, { least: 20 })) yield* killed(call, isAgain)
        yield* Effect.map(killed(MOST_CALLS, isAgain), (isOver) => assert.isTrue(isOver))
      }
    }))

  // Eight seeds of 70 wakes, three of which always run, are the 560 of the fewest trials.
  it.effect("run each order once, tell what ran, and lose no save", () =>
    Effect.gen(function*() {
      for (const seed of Trials.seeds(40, { from: 1, least: 6, always: [18, 29, 38] })) {
        const world = new World(seed)
        yield* world.live(life(world, seed))
      }
    }))
})
