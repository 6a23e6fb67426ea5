/**
 * The channel `timer`: waits.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `sleep` | `{ ms }`, or `{ until }` in milliseconds since 1970 | `{ until }`, the moment at which the wait ended |
 *
 * A wait is at most 2^43 ms. It is repeatable. After a restart, `until` keeps its moment, and `ms` begins anew; a request
 * that has to survive restarts gives `until`.
 *
 * @module
 */
import { type Channel, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import * as Operations from "./channel/Operations.ts"

/** The clock of a timer: the time since 1970, a time that never goes back, and a timer that returns its cancellation. All in ms. */
export interface Clock {
  readonly now: () => number
  readonly elapsed: () => number
  readonly after: (millis: number, run: () => void) => () => void
}

/** The longest wait and the latest moment, in milliseconds. */
const LONGEST = 2 ** 43

/** The longest timer of a host, in milliseconds. */
const PART = 2 ** 31 - 1

/** Waits in progress, for all spaces. */
const WAITS = 100_000

const hostClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (millis, run) => {
    // A wait does not keep the process alive. Workers have plain numbers as timers.
    const timer: unknown = setTimeout(run, millis)
    ;(timer as { readonly unref?: () => void }).unref?.()
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0])
  }
}

/** Waits until no time is left, in parts that the host's timers can take. */
const wait = (clock: Clock, left: () => number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    let cancel = (): void => {}
    const stop = (): void => {
      cancel()
      reject(signal.reason)
    }
    const next = (): void => {
      const millis = left()
      if (millis > 0) {
        cancel = clock.after(Math.min(Math.ceil(millis), PART), next)
        return
      }
      signal.removeEventListener("abort", stop)
      resolve()
    }
    signal.addEventListener("abort", stop, { once: true })
    next()
  })

/** The channel over a clock. */
export const channel = (clock: Clock): Channel.Definition => ({
  provider: "timer",
  hosts: ["node", "deno", "bun", "workers"],
  jobs: WAITS,
  ...Operations.channel({
    sleep: Operations.operation({
      repeatable: true,
      fields: { ms: Fields.optional(Fields.count(0, LONGEST)), until: Fields.optional(Fields.count(0, LONGEST)) },
      about: ({ ms, until }) => ms === undefined ? `until ${until}` : `of ${ms} ms`,
      execute: async ({ ms, until }, job) => {
        if ((ms === undefined) === (until === undefined)) throw Fields.invalid(job, "give either ms or until")
        const end = clock.elapsed() + (ms ?? 0)
        await wait(clock, until === undefined ? () => end - clock.elapsed() : () => until - clock.now(), job.signal)
        return { value: { until: clock.now() }, bytes: 0 }
      }
    })
  })
})

export default Plugin.make({
  name: "timer",
  version: "0.1.0",
  provides: {
    channels: {
      timer: (settings) => {
        Fields.options("timer", {}, settings)
        return channel(hostClock)
      }
    }
  }
})
