/**
 * The addresses of a name: each is checked, and a connection goes to one of them without a second resolution.
 *
 * @module
 */
import { Channel } from "systole"
import type { AddressPolicy, Target } from "./AddressPolicy.ts"
import * as Deadline from "./Deadline.ts"
import * as IpAddress from "./IpAddress.ts"

/** The most addresses of a name that are tried. */
const TRIES = 8

/** The errors of a connection that sent no byte, so the next address can be tried. */
const UNCONNECTED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"])

/** The check of a target. */
export interface Check {
  readonly policy: AddressPolicy
  /** The addresses of a name; `undefined` on a host that cannot connect to an address that was checked. */
  readonly resolve: ((name: string) => Promise<ReadonlyArray<string>>) | undefined
  readonly refuse: (reason: string) => Channel.ChannelError
  readonly signal: AbortSignal
}

/** The addresses to which a connection may go: all of a name are checked. Empty on a host that cannot pin. */
export const checked = async (target: Target, { policy, refuse, resolve, signal }: Check): Promise<ReadonlyArray<string>> => {
  const refusal = policy.target(target)
  if (refusal !== undefined) throw refuse(refusal)
  if (resolve === undefined) return []
  if (IpAddress.parse(target.host) !== undefined) return [target.host]
  const addresses = await Deadline.orAborted(resolve(target.host), signal)
  const reason = addresses.map((address) => policy.address(target, address)).find((each) => each !== undefined)
  if (reason !== undefined) throw refuse(reason)
  if (addresses.length === 0) throw Channel.fail("io/unreachable", `${target.host} has no address`, { errno: -3008, retryable: true })
  return addresses
}

/** The addresses of a name as this host resolves it. */
export const resolve = async (name: string): Promise<ReadonlyArray<string>> => {
  const found = await process.getBuiltinModule("node:dns").promises.lookup(name, { all: true, verbatim: true })
  // IPv4 first: a network without IPv6 swallows the packets, and the connection fails only after minutes.
  return found.sort((a, b) => a.family - b.family).map(({ address }) => address)
}

/** Connects to the first address that can be reached. */
export const connected = async <A>(addresses: ReadonlyArray<string>, connect: (address: string) => Promise<A>): Promise<A> => {
  const [first = "", ...others] = addresses.slice(0, TRIES)
  let failure: unknown
  for (const address of [first, ...others]) {
    try {
      return await connect(address)
    } catch (error) {
      if (!UNCONNECTED.has((error as { readonly code?: unknown }).code)) throw error
      failure = error
    }
  }
  throw failure
}
