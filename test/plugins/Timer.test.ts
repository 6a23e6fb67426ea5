import { assert, describe, it } from "@effect/vitest"
import { Plugin } from "systole"
import timer, { channel, type Clock } from "../../plugins/timer.ts"
import * as TestJob from "../support/TestJob.ts"

/** A clock that a test moves. */
const manualClock = (start = 1_000_000) => {
  let time = start
  const timers = new Map<symbol, { readonly at: number; readonly run: () => void }>()
  const waits: Array<number> = []
  const clock: Clock = {
    now: () => time,
    elapsed: () => time - start,
    after: (millis, run) => {
      const id = Symbol("timer")
      waits.push(millis)
      timers.set(id, { at: time + millis, run })
      return () => timers.delete(id)
    }
  }
  const move = (millis: number): void => {
    time += millis
    for (const [id, { at, run }] of timers) {
      if (at > time) continue
      timers.delete(id)
      run()
    }
  }
  return { clock, move, timers, waits }
}

/** Whether a promise is settled, after all microtasks. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  void promise.then(() => void (settled = true), () => void (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

describe("The timer channel", () => {
  it("sleeps for a time, and until a moment", async () => {
    const { clock, move, timers } = manualClock()
    const sleeper = channel(clock)
    const relative = TestJob.run(sleeper, TestJob.make("sleep", { ms: 50 }))
    const absolute = TestJob.run(sleeper, TestJob.make("sleep", { until: 1_000_060 }))
    move(49)
    assert.isFalse(await isSettled(relative))
    move(1)
    assert.deepStrictEqual(await relative, { value: { until: 1_000_050 }, bytes: 0 })
    assert.isFalse(await isSettled(absolute))
    move(10)
    assert.deepStrictEqual(await absolute, { value: { until: 1_000_060 }, bytes: 0 })
    assert.strictEqual(timers.size, 0)
  })

  it("ends at once at a moment that is over, as after a restart", async () => {
    const { clock, waits } = manualClock()
    const result = await TestJob.run(channel(clock), TestJob.make("sleep", { until: 5 }))
    assert.deepStrictEqual(result, { value: { until: 1_000_000 }, bytes: 0 })
    assert.deepStrictEqual(waits, [])
  })

  it("waits longer than the host's timers can, in parts", async () => {
    const { clock, move, waits } = manualClock()
    const sleeping = TestJob.run(channel(clock), TestJob.make("sleep", { ms: 2 ** 32 }))
    move(2 ** 31 - 1)
    move(2 ** 31 - 1)
    assert.isFalse(await isSettled(sleeping))
    move(2)
    await sleeping
    assert.deepStrictEqual(waits, [2 ** 31 - 1, 2 ** 31 - 1, 2])
  })

  it("stops its timer at an abort", async () => {
    const { clock, timers } = manualClock()
    const job = TestJob.make("sleep", { ms: 50 })
    const sleeping = TestJob.failure(channel(clock), job)
    await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(timers.size, 1)
    job.abort()
    assert.include((await sleeping).message, "R1")
    assert.strictEqual(timers.size, 0)
  })

  it.each([
    {}, { ms: -1 }, { ms: 1.5 }, { ms: Infinity }, { ms: 2 ** 43 + 1 }, { ms: "5" }, { until: 2 ** 44 }, { ms: 1, until: 1 },
    { seconds: 3 }, "5", null
  ])("refuses the payload %j", async (payload) => {
    const { clock } = manualClock()
    const { code, message, retryable } = await TestJob.failure(channel(clock), TestJob.make("sleep", payload))
    assert.deepStrictEqual([code, retryable], ["io/invalid", false])
    assert.include(message, "R1")
  })

  it("waits on the host itself, and takes no options", async () => {
    const make = timer.provides.channels?.["timer"]
    const settings = { id: "timer", root: "/", folder: "/", host: "node", options: {} } as const
    const definition = make?.(settings)
    if (definition === undefined) throw new Error("the plugin has no channel")
    await TestJob.run(definition, TestJob.make("sleep", { ms: 1 }))
    assert.throws(() => make?.({ ...settings, options: { ms: 3 } }), Plugin.InvalidPlugin, /"ms" is unknown/)
  })
})
