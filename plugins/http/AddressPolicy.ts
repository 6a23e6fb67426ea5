/**
 * The addresses that a channel may reach, against server-side request forgery.
 *
 * Public unicast addresses are reachable. All others are refused unless the allow list has the name or the address, and
 * the deny list comes before the allow list. A host that cannot pin a connection reaches the allow list alone.
 *
 * @module
 */
import * as IpAddress from "./IpAddress.ts"

/** The address blocks that are refused: the special-purpose registries of IANA, and addresses of cloud services. */
const special: ReadonlyArray<readonly [kind: string, ...blocks: ReadonlyArray<string>]> = [
  ["an unspecified address", "0.0.0.0/8", "::/128"],
  ["a loopback address", "127.0.0.0/8", "::1/128"],
  ["a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fec0::/10"],
  ["a unique local address", "fc00::/7"],
  ["a link-local address", "169.254.0.0/16", "fe80::/10"],
  ["an address of a carrier-grade NAT", "100.64.0.0/10"],
  ["a multicast address", "224.0.0.0/4", "ff00::/8"],
  ["the broadcast address", "255.255.255.255/32"],
  ["a documentation address", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  ["a benchmarking address", "198.18.0.0/15", "2001:2::/48"],
  ["an address of a cloud's metadata service", "168.63.129.16/32"],
  ["a Teredo address", "2001::/32"],
  ["a 6to4 address", "2002::/16", "192.88.99.0/24"],
  ["an IPv4-mapped address", "::ffff:0:0/96"],
  ["a NAT64 address", "64:ff9b::/96", "64:ff9b:1::/48"],
  ["an IPv4-compatible address", "::/96"],
  ["a reserved address", "192.0.0.0/24", "240.0.0.0/4", "2001::/23"]
]

const networkOf = (text: string): IpAddress.Network => {
  const network = IpAddress.parseNetwork(text)
  if (network === undefined) throw new Error(`${text} is no network`)
  return network
}

const blocks = special.flatMap(([kind, ...texts]) => texts.map((text) => ({ kind, network: networkOf(text) })))

/** The block of global unicast addresses. All of IPv6 outside is reserved. */
const global = networkOf("2000::/3")

/**
 * The kind of an address that is not public, such as `a private address`; `undefined` for a public one.
 */
export const kindOf = (address: IpAddress.IpAddress): string | undefined =>
  blocks.find(({ network }) => IpAddress.contains(network, address))?.kind ??
    (address.family === 4 || IpAddress.contains(global, address) ? undefined : "a reserved address")

/** The place that a URL names: a host name or an address without brackets, and a port. */
export interface Target {
  readonly host: string
  readonly port: number
}

/** One entry of a list: a network or a name, and the port if it names one. */
interface Entry {
  readonly network: IpAddress.Network | undefined
  /** The name, or the end of a name that began with `*`. */
  readonly name: string
  readonly port: number | undefined
}

const entryForm = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/
const nameForm = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/

const entryOf = (text: string): Entry | undefined => {
  const network = IpAddress.parseNetwork(text)
  if (network !== undefined) return { network, name: "", port: undefined }
  const [, bracketed, plain = "", digits] = entryForm.exec(text.toLowerCase()) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  const literal = IpAddress.parseNetwork(bracketed ?? plain)
  if (literal !== undefined) return { network: literal, name: "", port }
  return bracketed === undefined && nameForm.test(plain) ? { network: undefined, name: plain, port } : undefined
}

/**
 * Tests whether a text can stand in a list: a name, `*.` and a name, an address, each also with a port, or a network.
 */
export const isEntry = (text: string): boolean => entryOf(text) !== undefined

/**
 * Tests whether a text is a host: a name in lower case, or an address without brackets.
 */
export const isHost = (text: string): boolean =>
  IpAddress.parse(text) !== undefined || (!text.startsWith("*") && nameForm.test(text))

const named = (entry: Entry, host: string): boolean =>
  entry.name.startsWith("*") ? host.endsWith(entry.name.slice(1)) : entry.name === host

/** Tests whether a list has a target by its name, or one of its addresses. */
const has = (entries: ReadonlyArray<Entry>, { host, port }: Target, address = IpAddress.parse(host)): boolean =>
  entries.some((entry) =>
    (entry.port ?? port) === port &&
    (entry.network === undefined ? named(entry, host) : address !== undefined && IpAddress.contains(entry.network, address))
  )

/** The rules of a channel. */
export interface AddressPolicy {
  /** The reason to refuse a target before its name is resolved, if any. */
  readonly target: (target: Target) => string | undefined
  /** The reason to refuse an address of a target, if any. */
  readonly address: (target: Target, address: string) => string | undefined
}

/** The lists of a channel, and whether its host connects to the address that was checked. */
export interface Rules {
  readonly allow: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
  readonly pinned: boolean
}

const CURE = "Name a public address, or put this one on the channel's allow list"

/**
 * The policy of a channel. Invalid entries are left out; {@link isEntry} finds them.
 */
export const make = (rules: Rules): AddressPolicy => {
  const entriesOf = (texts: ReadonlyArray<string>) => texts.map(entryOf).filter((entry) => entry !== undefined)
  const [allowed, denied] = [entriesOf(rules.allow), entriesOf(rules.deny)]
  const address = (target: Target, text: string): string | undefined => {
    const parsed = IpAddress.parse(text)
    if (parsed === undefined) return `${target.host} resolves to ${JSON.stringify(text)}, which is no address. ${CURE}`
    const place = text === target.host ? target.host : `${target.host} resolves to ${text}, which`
    if (has(denied, target, parsed)) return `${place} is on the channel's deny list`
    const kind = has(allowed, target, parsed) ? undefined : kindOf(parsed)
    return kind === undefined ? undefined : `${place} is ${kind}. ${CURE}`
  }
  return {
    target: (target) => {
      if (has(denied, target)) return `${target.host} is on the channel's deny list`
      if (!rules.pinned && !has(allowed, target)) {
        return `${target.host} is not on the channel's allow list, and this host cannot pin the address that it checks. Put the name there`
      }
      return IpAddress.parse(target.host) === undefined ? undefined : address(target, target.host)
    },
    address
  }
}
