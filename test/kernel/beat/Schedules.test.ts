import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel, MemoryStore, Persistence, why } from "systole"
import * as HashLayer from "../../support/HashLayer.ts"
import * as SetClock from "../../support/SetClock.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { enzyme, refusal, replays, steps, through, turns } from "../TestSpace.ts"
import { DAY, demand, HOUR, MINUTE, pass, plan, scheduled } from "./ScheduledEnzyme.ts"

describe("a schedule", () => {
  it.effect("sends one event for each due time, and no beat runs in between", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "5m" })
      const space = yield* TestKernel.space([made], "home")
      yield* turns()
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 5m", next: 5 * MINUTE })
      const before = yield* space.head
      yield* pass(16 * MINUTE)
      assert.deepStrictEqual(log, [1, 2, 3].map((n) => `${n * 5 * MINUTE}: ${n * 5 * MINUTE} ${(n + 1) * 5 * MINUTE}`))
      // The beat of the due time, and that of the event.
      assert.strictEqual(yield* space.head, before + 6)
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 5m", next: 20 * MINUTE, last: 15 * MINUTE })
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("goes by the clock of its time zone, and over the changes to summer time and back", () =>
    Effect.gen(function*() {
      const cron = { cron: "30 2 * * *", timezone: "Europe/Vienna" } as const
      const { log, made } = scheduled(cron)
      yield* TestClock.setTime(Date.UTC(2026, 2, 28, 0, 0))
      const space = yield* TestKernel.space([made], "home")
      yield* turns()
      yield* pass(3 * DAY, 30 * MINUTE)
      const dates = () => log.map((line) => new Date(Number(line.split(":")[0])).toISOString())
      // 02:30 is 01:30 UTC in winter; it is skipped on the 29th, so due at the end of the gap; then it is 00:30 UTC.
      assert.deepStrictEqual(dates(), ["2026-03-28T01:30:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"])
      yield* replays(space)
      yield* TestClock.setTime(Date.UTC(2026, 9, 24, 12, 0))
      yield* turns()
      log.length = 0
      yield* pass(2 * DAY, 30 * MINUTE)
      // On the 25th of October 02:30 occurs twice, and is due once, at the first.
      assert.deepStrictEqual(dates(), ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"])
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("makes one event of the due times that it missed: the host was down, or the clock jumped", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1h" })
      const clock = SetClock.make()
      const machine = yield* RestartableKernel.make([made], undefined, clock)
      const first = yield* machine.boot(demand)
      yield* first.resume
      yield* turns()
      yield* pass(HOUR)
      assert.deepStrictEqual(log, [`${HOUR}: ${HOUR} ${2 * HOUR}`])
      clock.forget()
      yield* TestClock.adjust(10 * HOUR + 10 * MINUTE)
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* turns()
      assert.deepStrictEqual(log.slice(1), [`${11 * HOUR + 10 * MINUTE}: ${2 * HOUR} ${12 * HOUR}`])
      yield* clock.set(3 * HOUR)
      yield* turns()
      assert.deepStrictEqual(log.slice(2), [`${14 * HOUR + 10 * MINUTE}: ${12 * HOUR} ${15 * HOUR}`])
      yield* replays(yield* second.space("home"))
    })))

  it.effect("repeats no due time when the clock of the host goes back, and is planned anew when the space's is reset", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1h" })
      const clock = SetClock.make()
      yield* TestClock.setTime(1000 * DAY)
      const machine = yield* RestartableKernel.make([made], undefined, clock)
      const kernel = yield* machine.boot(demand)
      yield* kernel.resume
      yield* turns()
      const space = yield* kernel.space("home")
      yield* clock.set(365 * DAY)
      yield* turns()
      assert.strictEqual(log.length, 1)
      yield* clock.set(-365 * DAY)
      yield* turns()
      yield* pass(HOUR, 10 * MINUTE)
      assert.strictEqual(log.length, 2)
      yield* Effect.forkScoped(space.control.resetClock(), { startImmediately: true })
      yield* turns()
      yield* pass(HOUR, 10 * MINUTE)
      assert.deepStrictEqual(log.slice(2), [`${1000 * DAY + 2 * HOUR}: ${1000 * DAY + 2 * HOUR} ${1000 * DAY + 3 * HOUR}`])
      yield* replays(space)
    })))

  it.effect("waits while the space is paused, and makes one event of what was due", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made], "home")
      yield* steps(space, 2)
      yield* through(space, space.control.pause())
      yield* TestClock.adjust(10 * MINUTE)
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [])
      yield* through(space, space.control.resume())
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [`${10 * MINUTE}: ${MINUTE} ${11 * MINUTE}`])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("goes on after a rollback, which repeats no event", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made], "home")
      yield* steps(space, 2)
      const before = yield* space.head
      yield* TestClock.adjust(MINUTE)
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/tick"), 1)
      yield* through(space, space.control.pause())
      yield* through(space, space.control.rollback(before))
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/tick"), undefined)
      assert.strictEqual(log.length, 1)
      yield* TestClock.adjust(MINUTE)
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/tick"), 1)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is kept by a module with the same one, planned anew by another one, and ends a week after its enzyme", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const [a, b, c] = [scheduled({ every: "1h" }), scheduled({ every: "1h" }), scheduled({ every: "10m" })]
      const space = yield* TestKernel.space([a.made], "home")
      yield* turns()
      const swap = (before: Enzyme.Enzyme, after: Enzyme.Enzyme) =>
        Effect.gen(function*() {
          yield* kernel.unregister(before)
          yield* kernel.register(after)
          yield* turns()
        })
      yield* pass(30 * MINUTE)
      yield* swap(a.made, b.made)
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1h", next: HOUR })
      yield* swap(b.made, c.made)
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 10m", next: 40 * MINUTE })
      yield* pass(15 * MINUTE)
      assert.deepStrictEqual([a.log, b.log, c.log], [[], [], [`${40 * MINUTE}: ${40 * MINUTE} ${50 * MINUTE}`]])
      yield* kernel.unregister(c.made)
      yield* pass(3 * HOUR)
      assert.strictEqual(c.log.length, 1)
      const back = scheduled({ every: "10m" })
      yield* kernel.register(back.made)
      yield* turns()
      // The missed due times, of which the first was that of the 50th minute.
      assert.deepStrictEqual(back.log, [`${225 * MINUTE}: ${50 * MINUTE} ${230 * MINUTE}`])
      yield* kernel.unregister(back.made)
      yield* pass(6 * DAY, HOUR)
      assert.isDefined(yield* plan(space))
      yield* pass(2 * DAY, HOUR)
      assert.strictEqual(back.log.length, 1)
      assert.isUndefined(yield* plan(space))
      assert.isUndefined(kernel.due("home"))
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("is told apart from another one of its name by the query, also when one of them is changed", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const log: Array<string> = []
      const make = (query: string, every: string) =>
        Enzyme.make({ name: "tick", query, schedule: { every }, run: (tx) => void log.push(`${query} at ${tx.now / MINUTE}`) })
      const [hourly, often] = [make("/signals/hourly", "60m"), make("/signals/often", "40m")]
      yield* TestKernel.space([hourly, often], "home")
      yield* turns()
      yield* pass(30 * MINUTE)
      yield* kernel.unregister(hourly)
      yield* kernel.register(make("/signals/hourly", "60m"))
      yield* turns()
      yield* pass(40 * MINUTE, 10 * MINUTE)
      assert.deepStrictEqual(log, ["/signals/often at 40", "/signals/hourly at 60"])
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("is kept while its enzyme is left out, and makes one event when that comes back", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1h" })
      const machine = yield* RestartableKernel.make([])
      const first = yield* machine.boot(demand)
      yield* first.register(made)
      yield* first.resume
      yield* turns()
      const second = yield* machine.boot(demand)
      yield* second.leaveOut(made)
      yield* second.resume
      yield* pass(5 * HOUR, HOUR)
      const space = yield* second.space("home")
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1h", next: HOUR })
      const third = yield* machine.boot(demand)
      yield* third.register(made)
      yield* third.resume
      yield* turns()
      assert.deepStrictEqual(log, [`${5 * HOUR}: ${HOUR} ${6 * HOUR}`])
    })))

  it.effect("is kept while its file fails to load, and goes on when that is mended", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1h" })
      const code = { hash: "1", text: "", file: "tick.ts" }
      const machine = yield* RestartableKernel.make([])
      const first = yield* machine.boot(demand)
      yield* first.register(made, code)
      yield* first.resume
      yield* turns()
      const second = yield* machine.boot(demand)
      yield* second.breaks(code.file)
      yield* second.resume
      yield* pass(5 * HOUR, HOUR)
      const space = yield* second.space("home")
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1h", next: HOUR })
      yield* second.register(made, code)
      yield* second.mends(code.file)
      yield* turns()
      assert.deepStrictEqual(log, [`${5 * HOUR}: ${HOUR} ${6 * HOUR}`])
    })))

  it.effect("is in the spaces that it names, which wake by it while they are closed", () =>
    Effect.scoped(Effect.gen(function*() {
      const [a, b] = [scheduled({ every: "1h", spaces: ["one", "two"] }, "both"), scheduled({ every: "1h" }, "first")]
      const machine = yield* RestartableKernel.make([a.made, b.made, enzyme("busy", () => {})])
      const kernel = yield* machine.boot({ ...demand, open: 1, first: "three" })
      yield* kernel.resume
      yield* turns()
      yield* (yield* kernel.space("four")).signal({ signal: "/signals/busy" })
      yield* turns()
      assert.deepStrictEqual([...machine.open()], ["four"])
      yield* pass(2 * HOUR, HOUR)
      yield* turns()
      const expected = [["one", 2, undefined], ["two", 2, undefined], ["three", undefined, 2], ["four", undefined, undefined]]
      for (const [name, both, first] of expected) {
        const space = yield* kernel.space(String(name))
        assert.strictEqual(yield* space.get("/data/both"), both, String(name))
        assert.strictEqual(yield* space.get("/data/first"), first, String(name))
      }
    })))

  it.effect("opens its space when it is registered later, and creates none that has to be created", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const machine = yield* RestartableKernel.make([])
      const kernel = yield* machine.boot({ pace: "demand", create: "explicit" })
      yield* kernel.resume
      yield* kernel.register(made)
      yield* turns()
      assert.deepStrictEqual(yield* kernel.spaces, [])
      yield* kernel.space("home", { create: true })
      yield* turns()
      yield* pass(2 * MINUTE)
      assert.strictEqual(log.length, 2)
    })))

  it.effect("opens no space of a kernel that ends", () =>
    Effect.gen(function*() {
      const opened: Array<string> = []
      const memory = Layer.effect(Persistence, Effect.map(Persistence, (memory): Persistence["Service"] => ({
        ...memory,
        open: (name, options) => Effect.tap(memory.open(name, options), () => Effect.sync(() => opened.push(name)))
      }))).pipe(Layer.provide(MemoryStore.layer))
      const { made } = scheduled({ every: "1h", spaces: ["one", "two", "three", "four"] })
      yield* Effect.gen(function*() {
        const kernel = yield* Kernel
        yield* kernel.register(made)
        yield* kernel.resume
      }).pipe(Effect.provide(TestKernel.layer(demand, Layer.provide(memory, HashLayer.layer))))
      const before = opened.length
      yield* turns()
      assert.strictEqual(opened.length, before)
      assert.isBelow(before, 4)
    }))

  it.effect("sends a signal that anybody may send, too, and whose origin is told", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made], "home")
      yield* steps(space, 2)
      yield* space.signal({ signal: "/signals/tick", payload: { due: 1 } })
      yield* space.step
      assert.deepStrictEqual(log, ["0: 1 none"])
      yield* TestClock.adjust(MINUTE)
      yield* steps(space, 2)
      const reason = yield* space.examine((archive) => why(archive, "/data/tick"))
      assert.deepStrictEqual(reason?.writers.map(({ by, chain }) => [by, ...chain.map(({ sentBy, signal }) => `${signal} by ${sentBy}`)]), [
        ["tick", "/signals/tick by schedule"]
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("sends its event once, although its beat is lost and repeated", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1h" })
      const machine = yield* RestartableKernel.make([made])
      const first = yield* machine.boot(demand)
      yield* first.resume
      yield* turns()
      machine.breakDisk("home", true)
      yield* pass(HOUR, HOUR)
      machine.breakDisk("home", false)
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* turns()
      const space = yield* second.space("home")
      assert.strictEqual(yield* space.get("/data/tick"), 1)
      assert.strictEqual(new Set(log.map((line) => line.split(" ")[1])).size, 1)
      yield* replays(space)
    })))

  it.effect("is planned again by a beat that an event aborted", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made, enzyme("bad", () => Effect.die("broken"))], "home")
      yield* steps(space, 2)
      yield* TestClock.adjust(MINUTE)
      yield* space.signal({ signal: "/signals/bad" })
      yield* steps(space, 3)
      assert.strictEqual(log.length, 1)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("has a plan that readers without clearance do not see, in a space with labels", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made], "home")
      yield* steps(space, 2)
      yield* TestClock.adjust(MINUTE)
      yield* steps(space, 2)
      assert.strictEqual(log.length, 1)
      assert.isDefined(yield* plan(space))
      const reader = space.reader({ name: "anna", atoms: [] })
      assert.strictEqual((yield* Effect.result(reader.get("/sys/schedules/tick")))._tag, "Failure")
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer({ labels: { cells: { "/data/secret/**": ["secret"] }, declassify: {} } }))))

  it.effect("refuses writes to its plan", () =>
    Effect.gen(function*() {
      const { made } = scheduled({ every: "1m" })
      const space = yield* TestKernel.space([made], "home")
      yield* steps(space, 2)
      const refused = yield* refusal(space, space.set("/sys/schedules/tick", { schedule: "every 1s" }))
      assert.strictEqual(refused?.code, "cell/refused")
    }).pipe(Effect.provide(TestKernel.layer())))
})
