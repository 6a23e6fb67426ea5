import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Kernel, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { replays, turns } from "../TestSpace.ts"
import { demand, HOUR, MINUTE, pass, plan, scheduled } from "./ScheduledEnzyme.ts"

/** An enzyme with a schedule of one minute whose first attempt at an event is ten minutes and a half too early, and its due times. */
const slow = (name = "tick") => {
  const log: Array<string> = []
  const made = Enzyme.make({
    name,
    query: `/signals/${name}`,
    schedule: { every: "1m" },
    run: (tx, { attempt, payload }) => {
      const { due, next } = payload as { readonly due: number; readonly next: number }
      if (attempt === 1) return new Retry({ reason: "not yet", after: "630s" })
      log.push(`${tx.now}: ${due} ${next}`)
      return tx.increment(`/data/${name}`)
    }
  })
  return { log, made }
}

describe("a schedule whose events take longer than its interval", () => {
  it.effect("has one event at a time, and makes one of the due times meanwhile", () =>
    Effect.gen(function*() {
      const { log, made } = slow()
      const space = yield* TestKernel.space([made], "home")
      yield* turns()
      yield* pass(2 * MINUTE)
      const before = yield* space.head
      yield* pass(9 * MINUTE)
      // The event of the first minute is open, and no beat runs.
      assert.deepStrictEqual([yield* space.head, log], [before, []])
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1m", next: 2 * MINUTE, last: MINUTE })
      yield* pass(MINUTE, 30_000)
      assert.deepStrictEqual(log, [`690000: ${MINUTE} ${2 * MINUTE}`])
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1m", next: 12 * MINUTE, last: 2 * MINUTE })
      yield* pass(11 * MINUTE, 30_000)
      assert.deepStrictEqual(log.slice(1), [`${690_000 + 630_000}: ${2 * MINUTE} ${12 * MINUTE}`])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("waits for an open event after a restart, too, and for no event of another schedule", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, made } = slow()
      const other = scheduled({ every: "5m" }, "other")
      const machine = yield* RestartableKernel.make([made, other.made])
      const first = yield* machine.boot(demand)
      yield* first.resume
      yield* turns()
      yield* pass(3 * MINUTE)
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* turns()
      yield* pass(8 * MINUTE, 30_000)
      assert.deepStrictEqual([log, other.log.length], [[], 2])
      yield* pass(MINUTE, 30_000)
      assert.strictEqual(log.length, 1)
      const space = yield* second.space("home")
      assert.deepStrictEqual(yield* plan(space), { schedule: "every 1m", next: 12 * MINUTE, last: 2 * MINUTE })
      yield* replays(space)
    })))

  it.effect("waits for its own event, and for none of another enzyme with the same signal and due times", () =>
    Effect.scoped(Effect.gen(function*() {
      const shared = ["one", "two"].map((name) =>
        Enzyme.make({
          name,
          query: "/signals/shared",
          order: "loose",
          schedule: { every: "1m" },
          run: (_, { attempt, id }) => attempt === 1 && id === "1.due.0" ? new Retry({ reason: "not yet", after: "330s" }) : undefined
        }))
      const machine = yield* RestartableKernel.make(shared)
      const lasts = (kernel: Kernel["Service"]) => Effect.gen(function*() {
        const space = yield* kernel.space("home")
        const plans = yield* Effect.forEach(["one", "two"], (name) => plan(space, name))
        return plans.map((plan) => plan?.["last"] as number)
      })
      const first = yield* machine.boot(demand)
      yield* first.resume
      yield* turns()
      yield* pass(3 * MINUTE)
      assert.deepStrictEqual(yield* lasts(first), [MINUTE, 3 * MINUTE])
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* turns()
      yield* pass(2 * MINUTE)
      assert.deepStrictEqual(yield* lasts(second), [MINUTE, 5 * MINUTE])
      yield* pass(3 * MINUTE, 30_000)
      assert.deepStrictEqual(yield* lasts(second), [8 * MINUTE, 8 * MINUTE])
      yield* replays(yield* second.space("home"))
    })))

  it.effect("waits for its newest event that is sent again from its dead letter, before a restart and after it", () =>
    Effect.scoped(Effect.gen(function*() {
      const made = Enzyme.make({
        name: "tick",
        query: "/signals/tick",
        schedule: { every: "1h" },
        run: (tx, { attempt, payload }) => {
          if (tx.get("/data/mended") === undefined) throw new Error("The first event fails")
          const isFirst = (payload as { readonly due: number }).due === HOUR
          return isFirst && attempt === 1 ? new Retry({ reason: "not yet", after: "3h" }) : undefined
        }
      })
      const machine = yield* RestartableKernel.make([made])
      const first = yield* machine.boot(demand)
      yield* first.resume
      yield* turns()
      yield* pass(HOUR + MINUTE)
      const space = yield* first.space("home")
      const [letter] = (yield* space.dead({ limit: 1 })).letters
      yield* space.set("/data/mended", true)
      yield* space.redeliver(letter!.id, "tick")
      yield* turns()
      yield* pass(HOUR)
      const waiting = { schedule: "every 1h", next: 2 * HOUR, last: HOUR }
      assert.deepStrictEqual(yield* plan(space), waiting)
      const second = yield* machine.boot(demand)
      yield* second.resume
      yield* turns()
      yield* pass(HOUR)
      const again = yield* second.space("home")
      assert.deepStrictEqual(yield* plan(again), waiting)
      yield* pass(HOUR + MINUTE)
      assert.deepStrictEqual(yield* plan(again), { schedule: "every 1h", next: 5 * HOUR, last: 2 * HOUR })
      yield* replays(again)
    })))

  it.effect("goes on when its event is given up", () =>
    Effect.gen(function*() {
      let runs = 0
      const made = Enzyme.make({
        name: "tick",
        query: "/signals/tick",
        schedule: { every: "1m" },
        retry: { attempts: 2, delay: "150s" },
        run: () => {
          runs++
          return new Retry({ reason: "never" })
        }
      })
      yield* TestKernel.space([made], "home")
      yield* turns()
      yield* pass(10 * MINUTE, 30_000)
      // Events of the minutes 1, 2 for 3, and 4 for 6, each of two attempts; that of 7 for 8 has begun.
      assert.strictEqual(runs, 7)
    }).pipe(Effect.provide(TestKernel.layer(demand))))
})

describe("a host without the time zone of a schedule", () => {
  const cron = { cron: "0 * * * *", timezone: "Europe/Vienna" } as const

  it.effect("refuses to register its enzyme by name", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const { made } = scheduled({ cron: "0 * * * *", timezone: "Mars/Olympus" })
      const error = yield* Effect.flip(kernel.register(made))
      assert.strictEqual(error.message, "Enzyme \"tick\" is refused: \"schedule\" cannot be planned here, because the time zone " +
        "\"Mars/Olympus\" is unknown; give a name such as \"UTC\" or \"Europe/Vienna\"")
    }).pipe(Effect.provide(TestKernel.layer(demand))))

  it.effect("replays its beats", () =>
    Effect.gen(function*() {
      const { log, made } = scheduled(cron)
      const space = yield* TestKernel.space([made], "home")
      yield* turns()
      yield* pass(2 * HOUR, 30 * MINUTE)
      assert.strictEqual(log.length, 2)
      const known = Intl.DateTimeFormat
      // The host knows no time zone from here on. The module is made again, as a replay makes it.
      Object.assign(Intl, { DateTimeFormat: () => { throw new RangeError("Invalid time zone") } })
      try {
        assert.strictEqual(scheduled({ ...cron, timezone: "Asia/Tokyo" }).made.name, "tick")
        yield* replays(space)
      } finally {
        Object.assign(Intl, { DateTimeFormat: known })
      }
    }).pipe(Effect.provide(TestKernel.layer(demand))))
})
