/**
 * Addresses of the Internet Protocol, and the networks that contain them.
 *
 * Only the usual notations are addresses: four decimal numbers without leading zeros, or the groups of RFC 4291. Others,
 * such as `0x7f.1`, mean different addresses to different programs, so they are none.
 *
 * @module
 */

/** An address as a number of 32 or 128 bits. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly bits: bigint
}

/** A network: all addresses with the same first `length` bits. */
export interface Network extends IpAddress {
  readonly length: number
}

/** The number of bits of an address. */
const WIDTH = { 4: 32, 6: 128 } as const

const decimal = /^(?:0|[1-9]\d{0,2})$/
const group = /^[0-9a-f]{1,4}$/i

/** Joins the parts of an address. */
const join = (parts: ReadonlyArray<number>, width: bigint): bigint => parts.reduce((bits, part) => bits << width | BigInt(part), 0n)

const parseV4 = (text: string): IpAddress | undefined => {
  const parts = text.split(".")
  const numbers = parts.map(Number)
  return parts.length === 4 && parts.every((part) => decimal.test(part)) && numbers.every((number) => number <= 255)
    ? { family: 4, bits: join(numbers, 8n) }
    : undefined
}

/** The groups of a part of an address beside `::`. Four decimal numbers at the end are two groups. */
const groupsOf = (text: string, isLast: boolean): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const parts = text.split(":")
  const tail = parts.at(-1) ?? ""
  const embedded = isLast && tail.includes(".") ? parseV4(tail) : undefined
  const plain = embedded === undefined ? parts : parts.slice(0, -1)
  if (!plain.every((part) => group.test(part))) return undefined
  const groups = plain.map((part) => Number.parseInt(part, 16))
  return embedded === undefined ? groups : [...groups, Number(embedded.bits >> 16n), Number(embedded.bits & 0xffffn)]
}

const parseV6 = (text: string): IpAddress | undefined => {
  const halves = text.split("::")
  const [first = "", second] = halves
  if (halves.length > 2) return undefined
  const before = groupsOf(first, second === undefined)
  const after = second === undefined ? [] : groupsOf(second, true)
  if (before === undefined || after === undefined) return undefined
  const missing = 8 - before.length - after.length
  if (second === undefined ? missing !== 0 : missing < 1) return undefined
  return { family: 6, bits: join([...before, ...Array.from({ length: missing }, () => 0), ...after], 16n) }
}

/** Parses an address, without brackets; `undefined` for any other text. */
export const parse = (text: string): IpAddress | undefined => text.includes(":") ? parseV6(text) : parseV4(text)

/** Parses a network such as `10.0.0.0/8`, or one address. Bits behind the prefix are ignored. */
export const parseNetwork = (text: string): Network | undefined => {
  const [place = "", prefix, ...rest] = text.split("/")
  const address = parse(place)
  if (address === undefined || rest.length > 0) return undefined
  const width = WIDTH[address.family]
  if (prefix === undefined) return { ...address, length: width }
  return decimal.test(prefix) && Number(prefix) <= width ? { ...address, length: Number(prefix) } : undefined
}

/** Tests whether a network contains an address. An IPv4 network contains no IPv6 address, in any form. */
export const contains = (network: Network, address: IpAddress): boolean => {
  const rest = BigInt(WIDTH[network.family] - network.length)
  return network.family === address.family && network.bits >> rest === address.bits >> rest
}
