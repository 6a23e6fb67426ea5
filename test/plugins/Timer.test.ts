import { assert, describe, it } from "@effect/vitest"
import { Plugin, type Value } from "systole"
import timer, { channel } from "../../plugins/timer.ts"
import * as TestJob from "../support/TestJob.ts"

/** The end of a wait, by the time of its request and its payload. */
const ends: ReadonlyArray<readonly [issued: number, payload: Value, until: number]> = [
  [1_000_000, { ms: 50 }, 1_000_050],
  [1_000_000, { ms: 2 ** 43 }, 1_000_000 + 2 ** 43],
  [1_000_000, { until: 1_000_060 }, 1_000_060],
  [1_000_000, { until: 5 }, 1_000_000]
]

describe("The timer channel", () => {
  it.each(ends)("delays a request of %d with %j until %d, and returns that moment", async (issued, payload, until) => {
    const job = TestJob.make("sleep", payload, { issued })
    assert.strictEqual(channel.notBefore?.(job), until)
    assert.deepStrictEqual(await TestJob.run(channel, job), { value: { until }, bytes: 0 })
  })

  it.each([
    {}, { ms: -1 }, { ms: 1.5 }, { ms: Infinity }, { ms: 2 ** 43 + 1 }, { ms: "5" }, { until: 2 ** 44 }, { ms: 1, until: 2 ** 42 },
    { seconds: 3 }, "5", null
  ])("refuses the payload %j, and delays it by no time", async (payload) => {
    const job = TestJob.make("sleep", payload)
    const { code, message, retryable } = await TestJob.failure(channel, job)
    assert.deepStrictEqual([code, retryable], ["io/invalid", false])
    assert.include(message, "R1")
    assert.throws(() => channel.notBefore?.(job), message)
  })

  it("takes no options", () => {
    const make = timer.provides.channels?.["timer"]
    const settings = { id: "timer", root: "/", folder: "/", host: "node", options: {} } as const
    assert.strictEqual(make?.(settings), channel)
    assert.throws(() => make?.({ ...settings, options: { ms: 3 } }), Plugin.InvalidPlugin, /"ms" is unknown/)
  })
})
