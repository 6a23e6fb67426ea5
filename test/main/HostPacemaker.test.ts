import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Pacemaker } from "systole"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"

const HOUR = 3_600_000

/** A host with timers of its monotonic clock, which stands still during a sleep. */
const fake = () => {
  const timers = new Set<{ readonly at: number; readonly run: () => void; readonly isWatch: boolean }>()
  let [elapsed, now] = [0, 1_000_000]
  const clocks: HostPacemaker.HostClocks = {
    now: () => now,
    elapsed: () => elapsed,
    after: (millis, run, isWatch = false) => {
      const timer = { at: elapsed + millis, run, isWatch }
      timers.add(timer)
      return () => void timers.delete(timer)
    }
  }
  return {
    clocks,
    set: (by: number) => void (now += by),
    /** Time passes while the host is awake. */
    pass: (millis: number) => {
      const end = elapsed + millis
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        now += next.at - elapsed
        elapsed = next.at
        timers.delete(next)
        next.run()
      }
      now += end - elapsed
      elapsed = end
    },
    watches: () => [...timers].filter(({ isWatch }) => isWatch).length,
    timers: () => timers.size
  }
}

const started = (host: ReturnType<typeof fake>) =>
  Effect.map(Layer.build(HostPacemaker.layer((run) => run(), host.clocks)), (context) => Context.get(context, Pacemaker))

describe("The pacemaker of a host", () => {
  it.effect("wakes a space within the watch after a sleep of the computer", () =>
    Effect.gen(function*() {
      const host = fake()
      const { now, wake } = yield* started(host)
      const woken: Array<number> = []
      const at = now() + HOUR
      wake(at, () => void woken.push(now() - at))
      host.pass(1000)
      // Asleep for two hours: the clock goes on, the timers do not.
      host.set(2 * HOUR)
      host.pass(30_000)
      assert.lengthOf(woken, 1)
      host.pass(2 * HOUR)
      assert.lengthOf(woken, 1)
    }))

  it.effect("lets a space look again after its clock was set back", () =>
    Effect.gen(function*() {
      const host = fake()
      const { now, wake } = yield* started(host)
      let looks = 0
      wake(now() + 24 * HOUR, () => void looks++)
      host.set(-HOUR)
      host.pass(30_000)
      assert.strictEqual(looks, 1)
    }))

  it.effect("leaves wakes alone while the clocks agree within a second, and watches with one timer while a wake is armed", () =>
    Effect.gen(function*() {
      const host = fake()
      const { now, timer, wake } = yield* started(host)
      let looks = 0
      assert.strictEqual(host.watches(), 0)
      const cancels = Array.from({ length: 100 }, () => wake(now() + 10 * HOUR, () => void looks++))
      timer(now() + 2 * HOUR, () => {})
      for (let i = 0; i < 10; i++) {
        assert.strictEqual(host.watches(), 1)
        host.set(i % 2 === 0 ? 900 : -900)
        host.pass(30_000)
      }
      assert.strictEqual(looks, 0)
      host.set(HOUR)
      host.pass(30_000)
      assert.strictEqual(looks, 100)
      for (const cancel of cancels) cancel()
      host.pass(30_000)
      assert.strictEqual(host.watches(), 0)
      // Limits of work in progress count the time awake alone.
      assert.strictEqual(host.timers(), 1)
    }))

  it.effect("ends no other wake, nor the watch, where one throws", () =>
    Effect.gen(function*() {
      const host = fake()
      const { now, wake } = yield* started(host)
      const woken: Array<string> = []
      const pass = (millis: number) => Effect.result(Effect.try({ try: () => host.pass(millis), catch: String }))
      wake(now() + HOUR, () => {
        throw new Error("its space is gone")
      })
      wake(now() + HOUR, () => void woken.push("other"))
      wake(now() + HOUR, () => {
        wake(now() + 9 * HOUR, () => void woken.push("next"))
      })
      host.set(2 * HOUR)
      assert.deepInclude(yield* pass(30_000), { failure: "Error: its space is gone" })
      yield* pass(1)
      assert.deepStrictEqual(woken, ["other"])
      host.set(-HOUR)
      yield* pass(60_000)
      assert.deepStrictEqual(woken, ["other", "next"])
    }))

  it.effect("forgets a cancelled wake", () =>
    Effect.gen(function*() {
      const host = fake()
      const { now, wake } = yield* started(host)
      let looks = 0
      wake(now() + HOUR, () => void looks++)()
      wake(now() + HOUR, () => void looks++)
      host.set(2 * HOUR)
      host.pass(30_000)
      assert.strictEqual(looks, 1)
    }))
})
