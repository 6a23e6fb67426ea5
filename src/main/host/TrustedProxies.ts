/**
 * The address of a caller behind the proxies of a configuration.
 *
 * @module
 */
import * as IpAddress from "../../cell/IpAddress.ts"
import type { AddressOf } from "../../ingress/access/RateLimit.ts"

/** The most entries of the header that are looked at. */
const MAX_ENTRIES = 20

/**
 * The address of a caller: that of the connection, or of the first entry from the end of `X-Forwarded-For` that is no trusted proxy.
 */
export const make = (trusted: ReadonlyArray<string>): AddressOf => {
  if (trusted.length === 0) return (_, connection) => connection
  const proxies = trusted.flatMap((text) => IpAddress.network(text) ?? [])
  const isProxy = (text: string): boolean => {
    const address = IpAddress.parseEntry(text)
    return address !== undefined && proxies.some((network) => IpAddress.isIn(network, address))
  }
  return ({ headers }, connection) => {
    if (connection === undefined) return undefined
    let address = connection
    const entries = (headers.get("x-forwarded-for") ?? "").split(",").slice(-MAX_ENTRIES)
    for (const entry of entries.reverse()) {
      if (!isProxy(address) || IpAddress.parseEntry(entry) === undefined) return address
      address = entry.trim()
    }
    return address
  }
}
