/**
 * The address of a caller behind the proxies of a configuration.
 *
 * @module
 */
import { BlockList, isIP } from "node:net"
import type { AddressOf } from "../../ingress/access/RateLimit.ts"

/** The most entries of the header that are looked at. */
const MAX_ENTRIES = 20

const kindOf = (address: string): "ipv4" | "ipv6" => isIP(address) === 4 ? "ipv4" : "ipv6"

/** An address without the port and the brackets that some proxies add. */
const plain = (text: string): string => {
  const address = text.trim().replace(/^\[([^\]]*)\](?::\d+)?$/, "$1").replace(/^::ffff:(?=\d+\.)/i, "")
  return isIP(address) === 0 ? address.replace(/:\d+$/, "") : address
}

/**
 * The address of a caller: that of the connection, or of the first entry from the end of `X-Forwarded-For` that is no trusted proxy.
 */
export const make = (trusted: ReadonlyArray<string>): AddressOf => {
  if (trusted.length === 0) return (_, connection) => connection
  const proxies = new BlockList()
  for (const entry of trusted) {
    const [address = "", bits] = entry.split("/")
    if (bits === undefined) proxies.addAddress(address, kindOf(address))
    else proxies.addSubnet(address, Number(bits), kindOf(address))
  }
  const isProxy = (address: string): boolean => isIP(address) !== 0 && proxies.check(address, kindOf(address))
  return ({ headers }, connection) => {
    if (connection === undefined) return undefined
    let address = plain(connection)
    const entries = (headers.get("x-forwarded-for") ?? "").split(",").slice(-MAX_ENTRIES)
    for (const entry of entries.reverse()) {
      const before = plain(entry)
      if (!isProxy(address) || isIP(before) === 0) return address
      address = before
    }
    return address
  }
}
