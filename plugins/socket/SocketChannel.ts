/**
 * The channel `socket`.
 *
 * @module
 */
import { Channel, type ChannelOptions, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as ConnectionChannel from "../connection/ConnectionChannel.ts"
import type * as Wait from "../connection/Wait.ts"
import * as AddressPolicy from "../http/AddressPolicy.ts"
import * as HttpOptions from "../http/Options.ts"
import * as Dial from "./Dial.ts"

/** The fields that name the other side. */
const place = {
  host: Fields.guard("a name in lower case, or an address without brackets", (value): value is string =>
    typeof value === "string" && value.length <= 253 && AddressPolicy.isHost(value)),
  port: Fields.count(1, 65_535),
  protocol: Fields.or(Fields.oneOf("tcp", "tls", "udp"), "tcp")
}

/** The fields of the options. */
const fields = {
  ...HttpOptions.reach,
  ...ConnectionChannel.fields,
  connect: Fields.optional(Fields.record(place))
} satisfies Fields.For<ChannelOptions["socket"]>

const nameOf = ({ host, port, protocol }: Dial.Place): string => `${protocol}://${host.includes(":") ? `[${host}]` : host}:${port}`

const unfit = (reason: string) => Channel.fail("io/invalid", reason, { errno: -22 })

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 */
export const define = (settings: Plugin.ChannelSettings, world?: Wait.World): Channel.Definition => {
  const options = Fields.options("socket", fields, settings)
  const { allow, connect, deny, messages } = options
  const refuse = (problem: string) => Fields.refusal("socket", settings, problem)
  const policy = AddressPolicy.make({ allow, deny, pinned: true })
  const site = { policy, tls: HttpOptions.tlsOf({ plugin: "socket", settings }, options) }
  const isDatagram = connect?.protocol === "udp"
  if (messages !== undefined && isDatagram !== (messages === "datagram")) {
    throw refuse(`its messages are ${messages}, and those of ${connect?.protocol ?? "no connection"} are not`)
  }
  return ConnectionChannel.define({
    plugin: "socket", settings, options, place, world,
    about: (to) => `with ${nameOf(to)}`,
    kept: connect && { dial: Dial.to(connect, site), name: nameOf(connect) },
    route: (to, { until = to.protocol === "udp" ? "datagram" : "close" }) => {
      const isOfUdp = until === "datagram" || until === "none"
      if (to.protocol === "udp" ? !isOfUdp : until === "datagram") throw unfit(`until ${JSON.stringify(until)} does not fit ${to.protocol}`)
      return { dial: Dial.to(to, site), until }
    }
  })
}
