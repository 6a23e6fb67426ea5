/**
 * The channel `pipe`: exchanges over the sockets and FIFOs below one folder, and one connection that stays open; and the transport
 * `pipe` of federation.
 *
 * | opcode | payload | value | repeatable |
 * |---|---|---|---|
 * | `exchange` | `{ path }`, and a body | `{ bytes, text }` or `{ bytes, content }` | no |
 * | `send` | `text`, `data` or `content` | `{ bytes }` | no: it would be sent twice |
 *
 * A path is relative to the option `root`, by default `<project>/pipes`, and leads to a Unix socket or a FIFO, which another program
 * has made. Neither a path nor a link leads out of the root. The rest is as of the channel `socket`: `until`, `connect`, `messages`,
 * `inbound` and their limits.
 *
 * A FIFO has one direction. An exchange with bytes writes them, with the end `"none"`; one without reads, from the first writer on to
 * the end, which is the last writer's close unless given. A connection that stays open reads a FIFO if it has `inbound`, and else
 * writes to it. A FIFO without a reader is `io/unreachable`.
 *
 * Windows has no such entries, nor have Workers.
 *
 * @module
 */
import { resolve } from "node:path"
import { Channel, type ChannelOptions, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import { Jail, path } from "./channel/Jail.ts"
import * as ConnectionChannel from "./connection/ConnectionChannel.ts"
import * as Wait from "./connection/Wait.ts"
import * as Dial from "./pipe/Dial.ts"
import * as PipeTransport from "./pipe/PipeTransport.ts"

/** The fields of the options. */
const fields = {
  ...ConnectionChannel.fields,
  root: Fields.or(Fields.text(4096), "pipes"),
  connect: Fields.optional(Fields.record({ path }))
} satisfies Fields.For<ChannelOptions["pipe"]>

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 */
export const define = (settings: Plugin.ChannelSettings, world: Wait.World = Wait.host): Channel.Definition => {
  const options = Fields.options("pipe", fields, settings)
  const { connect, inbound, messages } = options
  const jail = new Jail(resolve(settings.root, options.root), "pipe")
  const { sleep } = world
  const use = inbound === undefined ? "write" : "listen"
  if (messages === "datagram") throw Fields.refusal("pipe", settings, "its messages are datagram, and it has streams alone")
  return ConnectionChannel.define({
    plugin: "pipe", settings, options, world,
    place: { path },
    about: ({ path }) => `with ${JSON.stringify(path.slice(0, 200))}`,
    kept: connect && { dial: Dial.to({ jail, sleep, path: connect.path, use }), name: connect.path },
    route: ({ path }, { hasBytes, until = "close" }) => {
      if (until === "datagram") throw Channel.fail("io/invalid", "until \"datagram\" does not fit a pipe", { errno: -22 })
      return { dial: Dial.to({ jail, sleep, path, use: hasBytes ? "write" : "read" }), until }
    }
  })
}

export default Plugin.make({
  name: "pipe",
  version: "0.1.0",
  provides: { channels: { pipe: (settings) => define(settings) }, transports: { pipe: PipeTransport.make } }
})
