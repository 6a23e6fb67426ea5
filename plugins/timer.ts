/**
 * The channel `timer`: waits.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `sleep` | `{ ms }`, or `{ until }` in milliseconds since 1970 | `{ until }`, the moment at which the wait ended |
 *
 * A wait is at most 2^43 ms. It begins with the beat that made the request, so its moment is the same after a restart. No
 * job is in progress meanwhile: the space may close, and its object sleeps.
 * A pause or a shutdown of the space does not wait for it: the wait goes on after the resume, and ends at the same moment.
 *
 * @module
 */
import { type Channel, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import * as Operations from "./channel/Operations.ts"

/** The longest wait and the latest moment, in milliseconds. */
const LONGEST = 2 ** 43

const shape = { ms: Fields.optional(Fields.count(0, LONGEST)), until: Fields.optional(Fields.count(0, LONGEST)) }

/**
 * The moment at which a wait ends: never before its request.
 *
 * @throws ChannelError
 */
const endOf = (request: Channel.DelayedRequest): number => {
  const { ms, until } = Fields.payload(shape, request)
  if ((ms === undefined) === (until === undefined)) throw Fields.invalid(request, "give either ms or until")
  return Math.max(request.issued, until ?? request.issued + (ms ?? 0))
}

/** The definition of the channel. */
export const channel: Channel.Definition = {
  provider: "timer",
  hosts: ["node", "deno", "bun", "workers"],
  notBefore: endOf,
  ...Operations.channel({
    sleep: Operations.operation({
      repeatable: true,
      fields: shape,
      about: ({ ms, until }) => ms === undefined ? `until ${until}` : `of ${ms} ms`,
      execute: (_, job) => ({ value: { until: endOf(job) }, bytes: 0 })
    })
  })
}

export default Plugin.make({
  name: "timer",
  version: "0.1.0",
  provides: {
    channels: {
      timer: (settings) => {
        Fields.options("timer", {}, settings)
        return channel
      }
    }
  }
})
