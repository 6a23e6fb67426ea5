import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { CurrentReporter, type Kernel, replay, Reporter, type Space } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import * as FinishedRecords from "../../support/FinishedRecords.ts"
import * as SetClock from "../../support/SetClock.ts"
import { enzyme, turns } from "../TestSpace.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEARS = 5 * 365 * DAY

/** Records the date of each run, and sends a delayed signal. */
const enzymes = [
  enzyme("ring", (tx, { payload }) => tx.append("/data/rung", `${payload}@${tx.now}`)),
  enzyme("later", (tx, { payload: at }) => tx.signal({ signal: "/signals/ring", payload: "later", at: at as { readonly ms: number } })),
  enzyme("away", (tx, { payload: ms }) => tx.signal({ signal: "/signals/ring", payload: "away", space: "other", at: { ms: Number(ms) } }))
]

const settings = { tempo: 100, pace: "demand", create: "on-demand" } as const

const rung = (space: Space) => Effect.map(space.get("/data/rung"), (value) => (value ?? []) as ReadonlyArray<string>)
const send = (space: Space, name: string, payload: unknown) => space.handled({ signal: `/signals/${name}`, payload })
const facts = (space: Space) =>
  Effect.map(TestKernel.diagnostics(space), (found) =>
    found.map(({ sev, topic }) => `${String(sev)} ${String(topic)}`).filter((line) => line.includes("clock/")))
const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), turns())

const start = Effect.fnUntraced(function*() {
  const machine = yield* RestartableKernel.make(enzymes, undefined, SetClock.make({ isMonotonic: true }))
  yield* TestClock.adjust(DAY)
  const kernel = yield* machine.boot(settings)
  return { machine, kernel, space: yield* kernel.space("home") }
})

/** Asserts that a replay of the whole journal finds no difference. */
const same = (space: Space) =>
  Effect.gen(function*() {
    const report = yield* space.examine((history) => replay(history, undefined, Infinity))
    assert.isUndefined(report.difference, JSON.stringify(report))
    assert.isUndefined(report.impossible, JSON.stringify(report))
  })

describe("The clock of a space whose host was set back by years", () => {
  it.effect("goes on from its newest beat, reports it once, and keeps the offset over restarts", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* start()
      yield* machine.clock.set(YEARS)
      yield* send(space, "later", { ms: HOUR })
      yield* send(space, "later", { beats: 10 })
      yield* machine.clock.set(-YEARS)
      yield* turns()
      assert.deepStrictEqual(yield* facts(space), ["sev:crit clock/ahead"])
      assert.deepInclude(yield* space.control.clock, { date: DAY + YEARS, host: DAY, offset: YEARS })
      yield* pass(1000)
      assert.deepStrictEqual(yield* rung(space), [`later@${DAY + YEARS + 1000}`])
      const again = yield* Effect.flatMap(machine.boot(settings), (kernel) => kernel.space("home"))
      yield* pass(HOUR - 1001)
      assert.lengthOf(yield* rung(again), 1)
      yield* pass(1)
      assert.deepStrictEqual(yield* rung(again), [`later@${DAY + YEARS + 1000}`, `later@${DAY + YEARS + HOUR}`])
      assert.deepStrictEqual(yield* facts(again), ["sev:crit clock/ahead"])
      yield* same(again)
    }))

  it.effect("waits for a host that is behind by the limit, as before", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* start()
      yield* send(space, "later", { ms: 1000 })
      yield* machine.clock.set(-5000)
      yield* pass(5999)
      assert.deepStrictEqual(yield* rung(space), [])
      yield* pass(1)
      assert.deepStrictEqual(yield* rung(space), [`later@${DAY + 1000}`])
      assert.deepStrictEqual(yield* facts(space), [])
      assert.strictEqual(yield* space.get("/sys/clock"), undefined)
    }))

  it.effect("has the limit of its configuration", () =>
    Effect.gen(function*() {
      const machine = yield* RestartableKernel.make(enzymes)
      yield* TestClock.adjust(DAY)
      const limits = { ...TestKernel.settings.limits, behindMillis: 60_000 }
      const space = yield* Effect.flatMap(machine.boot({ ...settings, limits }), (kernel) => kernel.space("home"))
      yield* send(space, "ring", "first")
      yield* machine.clock.set(-60_000)
      yield* turns()
      assert.deepStrictEqual(yield* facts(space), [])
      yield* machine.clock.set(-1)
      yield* send(space, "ring", "now")
      assert.deepStrictEqual(yield* facts(space), ["sev:crit clock/ahead"])
    }))

  it.effect("returns to the host's date by a reset, and all that waits ends after the same time", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* start()
      yield* machine.clock.set(YEARS)
      yield* send(space, "later", { ms: HOUR })
      yield* machine.clock.set(-YEARS)
      yield* pass(HOUR / 2)
      assert.deepInclude(yield* space.control.resetClock(), { offset: YEARS })
      yield* send(space, "ring", "now")
      yield* send(space, "later", { ms: HOUR })
      assert.deepStrictEqual(yield* rung(space), [`now@${DAY + HOUR / 2}`])
      const again = yield* Effect.flatMap(machine.boot(settings), (kernel) => kernel.space("home"))
      yield* pass(HOUR / 2)
      yield* pass(HOUR / 2)
      assert.deepStrictEqual(yield* rung(again), [`now@${DAY + HOUR / 2}`, `later@${DAY + HOUR}`, `later@${DAY + 1.5 * HOUR}`])
      const { offset, shifts } = yield* again.control.clock
      assert.deepStrictEqual([offset, shifts.map(({ by }) => by)], [0, [YEARS]])
      assert.deepInclude(yield* again.control.resetClock(), { offset: 0 })
      yield* same(again)
    }))

  it.effect("goes on while the space is closed, and in another process", () =>
    Effect.gen(function*() {
      const { kernel, machine, space } = yield* start()
      yield* machine.clock.set(YEARS)
      yield* send(space, "later", { ms: HOUR })
      const few = { ...settings, open: 1 }
      const crowd = (kernel: Kernel["Service"]) =>
        Effect.andThen(Effect.flatMap(kernel.space("crowd"), (other) => send(other, "ring", "here")), turns())
      yield* crowd(kernel)
      const second = yield* machine.boot(few)
      yield* second.resume
      yield* crowd(second)
      assert.isFalse(machine.open().has("home"))
      yield* machine.clock.set(-YEARS)
      yield* turns(20)
      yield* crowd(second)
      assert.isFalse(machine.open().has("home"))
      yield* pass(HOUR / 2)
      const third = yield* machine.boot(few)
      yield* third.resume
      yield* pass(HOUR / 2 - 1000)
      assert.isFalse(machine.open().has("home"))
      yield* pass(1000)
      yield* turns(20)
      assert.isTrue(machine.openings().includes("home"))
      assert.deepStrictEqual(yield* rung(yield* third.space("home")), [`later@${DAY + YEARS + HOUR}`])
    }))

  it.effect("delays a signal to a space with another clock by the same time", () =>
    Effect.gen(function*() {
      const { kernel, machine, space } = yield* start()
      yield* machine.clock.set(YEARS)
      yield* send(space, "ring", "here")
      yield* machine.clock.set(-YEARS)
      yield* turns()
      machine.breakOpening("other", true)
      yield* send(space, "away", HOUR)
      yield* turns(20)
      yield* pass(30_000)
      machine.breakOpening("other", false)
      yield* pass(30_000)
      const other = yield* kernel.space("other")
      yield* turns(20)
      yield* pass(HOUR - 60_001)
      assert.deepStrictEqual(yield* rung(other), [])
      yield* pass(1)
      assert.deepStrictEqual(yield* rung(other), [`away@${DAY + HOUR}`])
      assert.deepStrictEqual(yield* facts(other), [])
    }))

  it.effect("times a wait that began between two beats", () =>
    Effect.gen(function*() {
      const { kernel, machine } = yield* start()
      for (const [name, isClosed] of [["open", false], ["closed", true]] as const) {
        const space = yield* kernel.space(name)
        yield* send(space, "ring", "first")
        yield* machine.clock.set(YEARS)
        yield* space.signal({ signal: "/signals/ring", payload: "late", at: { ms: HOUR } })
        yield* machine.clock.set(-YEARS)
        const again = isClosed ? yield* Effect.flatMap(machine.boot(settings), (kernel) => kernel.space(name)) : space
        yield* turns()
        yield* pass(HOUR - 1)
        assert.lengthOf(yield* rung(again), 1)
        yield* pass(1)
        assert.lengthOf(yield* rung(again), 2)
        yield* same(again)
      }
    }))
})

const keeping = { ...settings, retention: { journalMillis: 3 * DAY } }

/** Runs enough beats that the store looks for old rows. */
const many = (space: Space) => Effect.forEach(Array.from({ length: 300 }), (_, n) => send(space, "ring", n), { discard: true })

describe("A jump of the clock by over a day while a process runs", () => {

  it.effect("makes nothing older for a day, and is reported", () =>
    Effect.gen(function*() {
      const clock = SetClock.make({ isMonotonic: true })
      const machine = yield* RestartableKernel.make(enzymes, undefined, clock)
      const space = yield* Effect.flatMap(machine.boot(keeping), (kernel) => kernel.space("home"))
      yield* pass(DAY)
      yield* many(space)
      assert.deepStrictEqual(yield* facts(space), [])
      yield* clock.set(30 * DAY)
      yield* many(space)
      assert.deepStrictEqual(yield* facts(space), ["sev:warn clock/jump"])
      assert.strictEqual((yield* space.control.clock).keeps, 32 * DAY)
      assert.isDefined(yield* space.journal(1))
      yield* pass(DAY)
      yield* many(space)
      assert.isUndefined(yield* space.journal(1))
    }))

  it.effect("makes nothing older once a reset took it back", () =>
    Effect.gen(function*() {
      const clock = SetClock.make({ isMonotonic: true })
      const machine = yield* RestartableKernel.make(enzymes, undefined, clock)
      const space = yield* Effect.flatMap(machine.boot(keeping), (kernel) => kernel.space("home"))
      yield* pass(DAY)
      yield* send(space, "ring", "first")
      yield* clock.set(30 * DAY)
      yield* send(space, "ring", "far")
      yield* clock.set(-30 * DAY)
      yield* turns()
      yield* space.control.resetClock()
      yield* pass(2 * DAY)
      yield* many(space)
      assert.isDefined(yield* space.journal(1))
      yield* pass(2 * DAY)
      yield* many(space)
      assert.isUndefined(yield* space.journal(1))
    }))

  it.effect("removes no finished record in its own beat", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* finishing
      yield* finish(space, "first")
      yield* machine.clock.set(30 * DAY)
      yield* finish(space, "second")
      assert.deepStrictEqual(yield* FinishedRecords.kept(space), ["first", "second"])
      yield* same(space)
    }))

  it.effect("makes nothing older where the host took it back, whatever passes until the reset", () =>
    Effect.gen(function*() {
      const { machine, space } = yield* finishing
      yield* finish(space, "first")
      yield* machine.clock.set(30 * DAY)
      yield* finish(space, "second")
      yield* machine.clock.set(-30 * DAY)
      yield* turns()
      yield* pass(2 * DAY)
      yield* finish(space, "third")
      assert.deepStrictEqual(yield* FinishedRecords.kept(space), ["first", "second", "third"])
      yield* pass(9 * DAY)
      yield* finish(space, "fourth")
      assert.deepStrictEqual(yield* FinishedRecords.kept(space), ["fourth", "third"])
      yield* same(space)
    }))

  it.effect("is none while the process measured the time", () =>
    Effect.gen(function*() {
      const clock = SetClock.make({ isMonotonic: true })
      const machine = yield* RestartableKernel.make(enzymes, undefined, clock)
      const space = yield* Effect.flatMap(machine.boot(keeping), (kernel) => kernel.space("home"))
      yield* send(space, "ring", "first")
      yield* pass(10 * DAY)
      yield* many(space)
      assert.deepStrictEqual(yield* facts(space), [])
      assert.isUndefined(yield* space.journal(0))
    }))
})

/** Finished records, which expire after ten days. */
const finishing = Effect.gen(function*() {
  const machine = yield* RestartableKernel.make([FinishedRecords.finish], undefined, SetClock.make({ isMonotonic: true }))
  yield* TestClock.adjust(DAY)
  const limits = { ...TestKernel.settings.limits, finishedMillis: 10 * DAY }
  const told: Array<string> = []
  const kept = { ...settings, limits, retention: { journalMillis: 10 * DAY } }
  const boot = Effect.flatMap(machine.boot(kept), (kernel) => kernel.space("home")).pipe(
    Effect.provideService(CurrentReporter, new Reporter(({ severity, topic }) => told.push(`${severity} ${topic}`)))
  )
  return { machine, told, boot, space: yield* boot }
})

const finish = (space: Space, name: string) => send(space, "finish", name)

describe("A space that sleeps for over a day, and is opened by a new process", () => {
  it.effect("tells each sleep once and as what it is, and expires what was due by its waking before", () =>
    Effect.gen(function*() {
      const { boot, told } = yield* finishing
      for (let week = 0; week < 5; week++) {
        const space = yield* boot
        yield* finish(space, `week ${week}`)
        yield* finish(space, `also week ${week}`)
        assert.deepStrictEqual(told.splice(0), week === 0 ? [] : ["sev:debug clock/slept"])
        yield* TestClock.adjust(7 * DAY)
      }
      const space = yield* boot
      yield* finish(space, "last")
      // At the waking before, after 28 days, the records of the weeks 0, 1 and 2 were ten days old.
      const kept = [3, 4].flatMap((week) => [`also week ${week}`, `week ${week}`])
      assert.deepStrictEqual(yield* FinishedRecords.kept(space), [...kept, "last"].toSorted())
      const oldest = yield* space.examine(({ store }) => store.anchor().beat)
      const dates = yield* Effect.forEach([oldest + 1, 0], (beat) => space.journal(beat))
      assert.deepStrictEqual(dates.map((row) => row?.clock), [22 * DAY, undefined])
      yield* same(space)
    }))

  it.effect("removes nothing for a clock that is wrong in one opening", () =>
    Effect.gen(function*() {
      const { boot, machine } = yield* finishing
      yield* Effect.flatMap(boot, (space) => finish(space, "first"))
      yield* machine.clock.set(YEARS)
      yield* Effect.flatMap(boot, (space) => finish(space, "wrong"))
      yield* machine.clock.set(-YEARS)
      yield* TestClock.adjust(4 * DAY)
      yield* Effect.flatMap(boot, (space) => finish(space, "right"))
      yield* TestClock.adjust(4 * DAY)
      const space = yield* boot
      yield* finish(space, "last")
      assert.deepStrictEqual(yield* FinishedRecords.kept(space), ["first", "last", "right", "wrong"])
      assert.deepInclude(yield* space.control.resetClock(), { offset: YEARS })
      yield* same(space)
    }))
})
