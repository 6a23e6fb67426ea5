import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, explain, Kernel, Retry, type Space } from "systole"
import * as SetClock from "../../support/SetClock.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { begun, ended, enzyme, replays, steps, through, turns } from "../TestSpace.ts"

type After = Retry["after"]

const demand = { pace: "demand", create: "on-demand" } as const

/** An enzyme that asks for another attempt each time, and the clock of each attempt. */
const failing = (options: Parameters<typeof enzyme>[2]) => {
  const log: Array<number> = []
  const made = enzyme("try", (tx) => {
    log.push(tx.now)
    return new Retry({ reason: "not yet" })
  }, options)
  return { log, made }
}

/** Lets the time pass in small parts, so that each wake arms the next one. */
const pass = (seconds: number) =>
  Effect.gen(function*() {
    for (let i = 0; i < seconds; i++) {
      yield* TestClock.adjust("1 second")
      yield* turns(2)
    }
  })

/** The only waiting signal of a space. */
const waiting = (space: Space) => Effect.map(space.waiting({ limit: 10 }), (page) => page.waiting[0])

describe("a retry by the clock", () => {
  it.effect("waits longer each time, up to its longest, and ends in a dead letter", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 6, delay: "1s", factor: 2, max: "4s" } })
      const space = yield* TestKernel.space([made])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      yield* pass(20)
      assert.deepStrictEqual(log, [0, 1000, 3000, 7000, 11_000, 15_000])
      assert.match((yield* ended(space, id))?.[0] ?? "", /^try dead @\d+ #6$/)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("multiplies by fractions, and rounds to milliseconds", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 4, delay: "1s", factor: 1.5 } })
      const space = yield* TestKernel.space([made])
      yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      for (const millis of [1000, 1500, 2250]) {
        yield* TestClock.adjust(millis)
        yield* turns()
      }
      assert.deepStrictEqual(log, [0, 1000, 2500, 4750])
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("is shorter by a random part that comes from the beat, so a replay finds the same", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 30, delay: "10s", factor: 1, jitter: 0.5 } })
      const space = yield* TestKernel.space([made])
      yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      for (let i = 0; i < 600; i++) {
        yield* TestClock.adjust("500 millis")
        yield* turns(1)
      }
      const waits = log.slice(1).map((at, i) => at - (log[i] ?? 0))
      assert.isAbove(waits.length, 20)
      assert.isAtLeast(Math.min(...waits), 5000)
      // The clock of the test moves by half a second.
      assert.isAtMost(Math.max(...waits), 10_500)
      assert.isAbove(new Set(waits).size, 5)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("starts in beats of another number, with the limit of the backoff", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("try", (tx) => {
        log.push(tx.beat)
        return new Retry({ reason: "not yet" })
      }, { retry: { beats: 3 } })])
      yield* space.signal({ signal: "/signals/try" })
      yield* steps(space, 20)
      assert.deepStrictEqual(log, [0, 3, 8, 13, 18])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, backoffBeats: 5 } }))))

  it.effect("goes by the wait that the run asks for: a duration, a time, a date or beats", () =>
    Effect.gen(function*() {
      const asked: ReadonlyArray<After> = [
        "10s", "1970-01-01T00:00:30Z", "1970-01-01T01:00:40+01:00", new Date(45_000), "1970-01-01T00:00:00Z", "0s", undefined
      ]
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("try", (tx, { attempt }) => {
        log.push(tx.now)
        return new Retry({ reason: "not yet", after: asked[attempt - 1] })
      }, { retry: { attempts: 8, delay: "3s", factor: 1 } })])
      yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      yield* pass(60)
      assert.deepStrictEqual(log, [0, 10_000, 30_000, 40_000, 45_000, 45_000, 45_000, 48_000])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("waits so many beats as the run asks for", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("try", (tx) => {
        log.push(tx.beat)
        return new Retry({ reason: "not yet", after: { beats: 4 } })
      }, { retry: { delay: "1h" } })])
      yield* space.signal({ signal: "/signals/try" })
      yield* steps(space, 10)
      assert.deepStrictEqual(log, [0, 4, 8])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("makes a dead letter of a wait that cannot be read, and says which", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<unknown> = [
        "ten", "-1s", "400d", "2026-02-30T00:00:00Z", "2026-01-15T14:00:00", "2971-01-01T00:00:00Z", 10, { beats: 0 }, { beats: 1.5 }, {},
        new Date(NaN), null, 10n
      ]
      const space = yield* TestKernel.space([
        enzyme("try", (_, { payload }) => new Retry({ reason: "not yet", after: bad[payload as number] as After }))
      ])
      for (const [i, after] of bad.entries()) {
        const { id } = yield* space.signal({ signal: "/signals/try", payload: i })
        yield* space.step
        const letter = yield* space.letter(id, "try")
        assert.strictEqual(letter?.code, "run/retry-after", String(after))
      }
      const { id } = yield* space.signal({ signal: "/signals/try", payload: 0 })
      yield* space.step
      const letter = yield* space.letter(id, "try")
      assert.include(letter?.message, "The run asks for another attempt after \"ten\"; give a duration such as \"10s\"")
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is named with its time in the waiting list and by explain", () =>
    Effect.gen(function*() {
      const { made } = failing({ retry: { delay: "90s" } })
      const space = yield* TestKernel.space([made])
      yield* TestClock.setTime(1_700_000_000_000)
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      assert.deepStrictEqual(yield* waiting(space), {
        id, signal: "/signals/try", why: "retrying", enzymes: ["try"], attempt: 2, due: { moment: 1_700_000_090_000 }
      })
      const explained = yield* space.examine((archive) => explain(archive, 0, "try"))
      assert.deepStrictEqual(explained?.signals.map(({ detail, verdict }) => `${verdict}: ${detail}`), [
        "retry: It ended with Retry (run/retry). It runs again at 2023-11-14T22:14:50.000Z."
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("wakes a closed space, and goes on after a restart", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 4, delay: "1h", factor: 1 } })
      const machine = yield* RestartableKernel.make([made, enzyme("other", () => {})])
      const first = yield* machine.boot({ ...demand, open: 1 })
      const space = yield* first.space("work")
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      // Another space closes this one.
      const other = yield* first.space("other")
      yield* other.signal({ signal: "/signals/other" })
      yield* turns()
      assert.isFalse(machine.open().has("work"))
      yield* TestClock.adjust("1 hour")
      yield* turns()
      assert.deepStrictEqual(log, [0, 3_600_000])
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* TestClock.adjust("1 hour")
      yield* turns()
      assert.deepStrictEqual(log, [0, 3_600_000, 7_200_000])
      yield* TestClock.adjust("1 hour")
      yield* turns()
      const again = yield* second.space("work")
      assert.match((yield* ended(again, id))?.[0] ?? "", /^try dead @\d+ #4$/)
      yield* replays(again)
    })))

  it.effect("keeps its time when the clock of the host goes back, and is due when it jumps ahead", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 4, delay: "1h", factor: 1 } })
      const clock = SetClock.make()
      const machine = yield* RestartableKernel.make([made], undefined, clock)
      const kernel = yield* machine.boot(demand)
      const space = yield* kernel.space("work")
      yield* TestClock.setTime(1_000_000_000)
      yield* space.signal({ signal: "/signals/try" })
      yield* turns()
      yield* clock.set(-86_400_000)
      yield* turns()
      yield* TestClock.adjust("59 minutes")
      yield* turns()
      assert.strictEqual(log.length, 1)
      yield* TestClock.adjust("1 minute")
      yield* turns()
      assert.strictEqual(log.length, 2)
      yield* clock.set(30 * 86_400_000)
      yield* turns()
      assert.strictEqual(log.length, 3)
      yield* replays(space)
    })))

  it.effect("is held by a pause, and due when the space resumes", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { delay: "10s", factor: 1 } })
      const space = yield* TestKernel.space([made])
      yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      yield* through(space, space.control.pause())
      yield* TestClock.adjust("1 minute")
      yield* steps(space, 3)
      assert.deepStrictEqual(log, [0])
      assert.deepInclude(yield* waiting(space), { why: "parked", on: "pause", due: { moment: 10_000 } })
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.deepStrictEqual(log, [0, 60_000])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("stays over a rollback", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { delay: "10s", factor: 1 } })
      const space = yield* TestKernel.space([made])
      yield* space.step
      yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      yield* through(space, space.control.pause())
      yield* through(space, space.control.rollback(0))
      yield* through(space, space.control.resume())
      yield* TestClock.adjust("10 seconds")
      yield* steps(space, 2)
      assert.deepStrictEqual(log, [0, 10_000])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("follows the module of its failure, and ends with an enzyme that is gone", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const before = failing({ retry: { delay: "10s", factor: 1 } })
      const after = failing({ retry: { attempts: 3, delay: "1m", factor: 1 } })
      const space = yield* TestKernel.space([before.made])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      yield* kernel.unregister(before.made)
      yield* kernel.register(after.made)
      yield* TestClock.adjust("10 seconds")
      yield* space.step
      assert.deepStrictEqual([before.log, after.log], [[0], [10_000]])
      yield* TestClock.adjust("59 seconds")
      yield* space.step
      assert.deepStrictEqual(after.log, [10_000])
      yield* kernel.unregister(after.made)
      yield* TestClock.adjust("1 second")
      yield* space.step
      assert.strictEqual((yield* space.letter(id, "try"))?.code, "enzyme/gone")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("holds a strict lane meanwhile, and no loose one", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const make = (name: string, order: "loose" | "strict") =>
        Enzyme.make({
          name,
          query: `/signals/${name}`,
          order,
          retry: { delay: "10s" },
          run: (_, { attempt, payload }) => {
            ran.push(`${name} ${payload} #${attempt}`)
            return payload === 1 && attempt === 1 ? new Retry({ reason: "not yet" }) : undefined
          }
        })
      const space = yield* TestKernel.space([make("loose", "loose"), make("strict", "strict")])
      for (const payload of [1, 2]) for (const name of ["loose", "strict"]) yield* space.signal({ signal: `/signals/${name}`, payload })
      yield* steps(space, 3)
      assert.deepStrictEqual(ran, ["loose 1 #1", "strict 1 #1", "loose 2 #1"])
      yield* TestClock.adjust("10 seconds")
      yield* steps(space, 2)
      assert.deepStrictEqual(ran.slice(3).sort(), ["loose 1 #2", "strict 1 #2", "strict 2 #1"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is the wait of a segment of a durable run", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([Enzyme.make({
        name: "long",
        query: "/signals/long",
        durable: true,
        retry: { attempts: 3, delay: "1m", factor: 1 },
        run: async (tx) => {
          await tx.sleep(1000)
          log.push(tx.now)
          if (tx.now < 120_000) throw new Retry({ reason: "not yet" })
          tx.set("/data/done", tx.now)
        }
      })])
      yield* space.signal({ signal: "/signals/long" })
      yield* turns()
      yield* pass(130)
      assert.deepStrictEqual([...new Set(log)], [1000, 61_000, 121_000])
      assert.strictEqual(yield* space.get("/data/done"), 121_000)
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("begins anew with its letter sent again", () =>
    Effect.gen(function*() {
      const { log, made } = failing({ retry: { attempts: 2, delay: "1m" } })
      const space = yield* TestKernel.space([made])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      yield* TestClock.adjust("1 minute")
      yield* space.step
      assert.strictEqual((yield* space.letter(id, "try"))?.attempt, 2)
      yield* begun(space, space.redeliver(id, "try"))
      yield* space.step
      assert.deepStrictEqual(log, [0, 60_000, 60_000])
    }).pipe(Effect.provide(TestKernel.layer())))
})
