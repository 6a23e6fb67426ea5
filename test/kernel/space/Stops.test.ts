import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { CurrentReporter, Pacemaker, Reporter, type Settings, type Space } from "systole"
import { enzyme, turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import * as SetClock from "../../support/SetClock.ts"

/** Counts signals, at once or after a delay. */
const enzymes = [
  enzyme("add", (tx) => tx.increment("/data/sum", 1)),
  enzyme("later", (tx, { payload }) => tx.signal({ signal: "/signals/add", at: { ms: Number(payload) } }))
]

const few: Partial<Settings> = { pace: "demand", create: "on-demand", open: 20 }
const add = (space: Space) => space.handled({ signal: "/signals/add" })
const sum = (space: Space) => space.get("/data/sum")

describe("a space that stops by itself", () => {
  /** A space with a timer of a second, over a disk that fails. */
  const stopped = Effect.fnUntraced(function*(told: Array<string> = []) {
    const host = yield* RestartableKernel.make(enzymes)
    const reporter = new Reporter(({ topic }) => void told.push(topic))
    const kernel = yield* Effect.provideService(host.boot(few), CurrentReporter, reporter)
    const space = yield* kernel.space("late")
    yield* space.handled({ signal: "/signals/later", payload: 1000 })
    yield* turns()
    host.breakDisk("late", true)
    return { host, kernel, space }
  })

  /** The milliseconds until each opening, over a time in steps of half a second. */
  const openings = Effect.fnUntraced(function*(host: RestartableKernel.RestartableKernel, milliseconds: number) {
    const found: Array<number> = []
    for (let at = 0, known = host.openings().length; at <= milliseconds; at += 500) {
      if (at > 0) yield* TestClock.adjust(500)
      yield* turns(10)
      const count = host.openings().length
      for (; known < count; known++) found.push(at)
    }
    return found
  })

  it.effect("is opened again after a second, for its timers, and is named as stopped until then", () =>
    Effect.gen(function*() {
      const { host, kernel, space } = yield* stopped()
      assert.strictEqual((yield* Effect.flip(add(space))).code, "space/stopped")
      host.breakDisk("late", false)
      yield* TestClock.adjust(999)
      yield* turns(20)
      assert.deepStrictEqual((yield* kernel.stops).map(({ code, space }) => [space, code]), [["late", "space/stopped"]])
      assert.deepStrictEqual(host.openings(), ["late"])
      yield* TestClock.adjust(1)
      yield* turns(20)
      assert.deepStrictEqual(yield* kernel.stops, [])
      assert.deepStrictEqual(host.openings(), ["late", "late"])
      assert.strictEqual(yield* sum(yield* kernel.space("late")), 1)
    }))

  it.effect("is opened again if an error beside its beats would end its loop, such as that of a host without a timer", () =>
    Effect.gen(function*() {
      let isBroken = false
      const clock = SetClock.make()
      const wake = (own: Pacemaker["Service"]): Pacemaker["Service"]["wake"] => (at, run) => {
        if (!isBroken) return own.wake(at, run)
        isBroken = false
        throw new Error("the host has no timer left")
      }
      const layer = Layer.effect(Pacemaker, Effect.map(Pacemaker, (own) => ({ ...own, wake: wake(own) }))).pipe(Layer.provide(clock.layer))
      const host = yield* RestartableKernel.make(enzymes, undefined, { ...clock, layer })
      const kernel = yield* host.boot(few)
      const space = yield* kernel.space("late")
      yield* space.handled({ signal: "/signals/later", payload: 2000 })
      yield* turns()
      isBroken = true
      yield* add(space)
      yield* turns()
      assert.deepStrictEqual((yield* kernel.stops).map(({ reason }) => reason), ["the host has no timer left"])
      yield* TestClock.adjust(1000)
      yield* turns(20)
      assert.deepStrictEqual(yield* kernel.stops, [])
      yield* TestClock.adjust(1000)
      yield* turns(20)
      assert.strictEqual(yield* sum(yield* kernel.space("late")), 2)
    }))

  it.effect("waits twice as long each time, up to a minute, if it stops before a beat of it is durable", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const { host, kernel } = yield* stopped(told)
      yield* TestClock.adjust(1000)
      yield* turns(20)
      const waits = [1, 2, 4, 8, 16, 32, 60, 60]
      let at = 0
      assert.deepStrictEqual(yield* openings(host, 200_000), waits.map((wait) => at += 1000 * wait))
      assert.lengthOf(told, 1 + waits.length)
      assert.lengthOf(yield* kernel.stops, 1)
    }))

  it.effect("waits a second again once a beat of it was durable", () =>
    Effect.gen(function*() {
      const { host, kernel } = yield* stopped()
      yield* TestClock.adjust(1000)
      yield* turns(20)
      assert.deepStrictEqual(yield* openings(host, 10_000), [1000, 3000, 7000])
      host.breakDisk("late", false)
      assert.deepStrictEqual(yield* openings(host, 10_000), [5000])
      assert.strictEqual(yield* sum(yield* kernel.space("late")), 1)
      host.breakDisk("late", true)
      yield* Effect.flip(add(yield* kernel.space("late")))
      assert.deepStrictEqual(yield* openings(host, 2000), [1000])
    }))

  it.effect("stays closed if a request opened it meanwhile and it was closed unused", () =>
    Effect.gen(function*() {
      const { host, kernel, space } = yield* stopped()
      yield* Effect.flip(add(space))
      host.breakDisk("late", false)
      yield* kernel.space("late")
      assert.deepStrictEqual(yield* kernel.stops, [])
      yield* TestClock.adjust(2000)
      yield* turns(20)
      for (let i = 0; i < 40; i++) yield* Effect.flatMap(kernel.space(`crowd-${i}`), (space) => space.idle)
      yield* turns()
      assert.isFalse(host.open().has("late"))
      const before = host.openings().length
      yield* TestClock.adjust(60_000)
      yield* turns(20)
      assert.strictEqual(host.openings().length, before)
    }))
})

describe("a space that failed to open for a request", () => {
  it.effect("is opened again by itself after a second, and the kernel no longer counts it as stopped", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      host.breakOpening("asked", true)
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* Effect.flip(kernel.space("asked"))).code, "store/unavailable")
      host.breakOpening("asked", false)
      yield* TestClock.adjust(1999)
      yield* turns(20)
      assert.lengthOf(yield* kernel.stops, 1)
      yield* TestClock.adjust(1)
      yield* turns(20)
      assert.deepStrictEqual(yield* kernel.stops, [])
    }))

  it.effect("is forgotten if the disk had no room to create it", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const kernel = yield* host.boot(few)
      host.breakOpening("never", true)
      yield* Effect.flip(kernel.space("never"))
      host.breakOpening("never", false)
      yield* TestClock.adjust(1000)
      yield* turns(20)
      assert.deepStrictEqual(yield* kernel.stops, [])
      assert.deepStrictEqual(yield* kernel.spaces, [])
      yield* TestClock.adjust(600_000)
      yield* turns(20)
      assert.deepStrictEqual(host.openings(), [])
    }))

  it.effect("is open a minute after the failure has passed, however long that lasted, without a report", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const host = yield* RestartableKernel.make(enzymes)
      const reporter = new Reporter(({ topic }) => void told.push(topic))
      const kernel = yield* Effect.provideService(host.boot(few), CurrentReporter, reporter)
      yield* Effect.flatMap(kernel.space("asked"), (space) => space.idle)
      for (let i = 0; i < 40; i++) yield* Effect.flatMap(kernel.space(`crowd-${i}`), (space) => space.idle)
      yield* turns()
      host.breakOpening("asked", true)
      yield* Effect.flip(kernel.space("asked"))
      yield* TestClock.adjust(86_400_000)
      yield* turns(20)
      host.breakOpening("asked", false)
      yield* TestClock.adjust(60_000)
      yield* turns(20)
      assert.deepStrictEqual(yield* kernel.stops, [])
      assert.deepStrictEqual(told, [])
    }))
})
