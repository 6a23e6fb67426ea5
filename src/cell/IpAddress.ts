/**
 * Addresses of the Internet Protocol and their networks, in one form: an address of version 4 is the one of version 6 that maps it.
 *
 * @module
 */

/** An address: 8 groups of 16 bits. */
export type IpAddress = ReadonlyArray<number>

/** The addresses that begin with the same bits. */
export interface Network {
  readonly address: IpAddress
  /** The number of the bits, up to 128. */
  readonly bits: number
}

/** The longest text of an address, with its zone. */
const MAX_LENGTH = 100

const OCTET = /^(?:0|[1-9]\d{0,2})$/
const GROUP = /^[\da-f]{1,4}$/i

/** The last two groups of an address of version 4. A number with a zero before it has two meanings. */
const short = (text: string): IpAddress | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) < 256)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** The groups of a text between colons. The last one may be an address of version 4. */
const groups = (text: string): IpAddress | undefined => {
  const parts = text === "" ? [] : text.split(":")
  const last = parts.at(-1)?.includes(".") === true ? short(parts.pop() ?? "") : []
  if (last === undefined || !parts.every((part) => GROUP.test(part))) return undefined
  return [...parts.map((part) => Number.parseInt(part, 16)), ...last]
}

/** Before the groups of an address of version 4. */
const MAPPED: IpAddress = [0, 0, 0, 0, 0, 0xffff]

/**
 * An address; `undefined` for another text. The zone of a link, as in `fe80::1%eth0`, is left out.
 */
export const parse = (text: string): IpAddress | undefined => {
  if (text.length > MAX_LENGTH) return undefined
  const [address = ""] = text.split("%", 1)
  if (!address.includes(":")) {
    const found = short(address)
    return found === undefined ? undefined : [...MAPPED, ...found]
  }
  const [before, after, ...more] = address.split("::").map(groups)
  if (before === undefined || more.length > 0 || /\.\d*:/.test(address)) return undefined
  if (!address.includes("::")) return before.length === 8 ? before : undefined
  // A double colon stands for as many zeros as are missing, and for one at least.
  const missing = after === undefined ? 0 : 8 - before.length - after.length
  return after === undefined || missing < 1 ? undefined : [...before, ...Array.from({ length: missing }, () => 0), ...after]
}

/** An address with the brackets or the port that some proxies add. */
export const parseEntry = (text: string): IpAddress | undefined => {
  const entry = text.trim().slice(0, MAX_LENGTH)
  return parse(/^\[([^\]]{0,100})\](?::\d{1,5})?$/.exec(entry)?.[1] ?? entry) ?? parse(/^([\d.]{1,15}):\d{1,5}$/.exec(entry)?.[1] ?? "")
}

const isShort = (address: IpAddress): boolean => MAPPED.every((group, i) => address[i] === group)

/**
 * The network `10.0.0.0/8`, or that of one address; `undefined` for another text.
 */
export const network = (text: string): Network | undefined => {
  const [before = "", bits, ...more] = text.split("/")
  const address = parse(before)
  if (address === undefined || more.length > 0 || before.includes("%")) return undefined
  const most = before.includes(":") ? 128 : 32
  if (bits !== undefined && !(OCTET.test(bits) && Number(bits) <= most)) return undefined
  return { address, bits: 128 - most + Number(bits ?? most) }
}

/** Whether an address is one of a network. */
export const isIn = ({ address, bits }: Network, other: IpAddress): boolean =>
  address.every((group, i) => {
    const unused = Math.min(16, Math.max(0, 16 * (i + 1) - bits))
    return group >> unused === (other[i] ?? 0) >> unused
  })

/**
 * The part of an address that one caller has: the whole of one of version 4, and the first half of one of version 6.
 */
export const callerOf = (address: IpAddress): string =>
  isShort(address)
    ? address.slice(6).flatMap((group) => [group >> 8, group & 255]).join(".")
    : `${address.slice(0, 4).map((group) => group.toString(16)).join(":")}::/64`
