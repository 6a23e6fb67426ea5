/**
 * URLs of requests: absolute, `http` or `https`, in a notation that every program reads in the same way.
 *
 * @module
 */
import { Channel } from "systole"
import type { Target } from "./AddressPolicy.ts"
import * as IpAddress from "./IpAddress.ts"

/** The maximum length of a URL. */
export const MAX_LENGTH = 8192

const form = /^(https?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(\d{1,5}))?(?:[/?#][^\\]*)?$/i
const control = /[\s\p{Cc}]/u

const refuse = (reason: string) => Channel.fail("http/refused", reason, { errno: -13 })

/** The reason to refuse a text that has not the form of a URL. */
const reasonOf = (text: string): string => {
  if (!/^https?:\/\//i.test(text)) return "the URL does not begin with http:// or https://"
  if (control.test(text) || text.includes("\\")) return "the URL has a space, a control character or a backslash. Encode it"
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1] ?? ""
  if (authority.includes("@")) return "the URL has credentials. Send them in a header"
  if (authority.endsWith(".")) return "the host name ends with a dot. Leave it out"
  return "the host name is not in its usual notation. Write a name in letters, digits, - and ., in its ASCII form (xn--…)"
}

/**
 * Parses the URL of a request.
 *
 * Refused with `http/refused` are other protocols, credentials, and each notation of a host other than the usual one: a
 * trailing dot, percent-encodings, other alphabets, and addresses as `0x7f.1`, `2130706433` or `127.1`.
 *
 * @throws ChannelError
 */
export const parse = (text: string): URL => {
  if (text.length > MAX_LENGTH) throw refuse(`the URL has ${text.length} characters; the limit is ${MAX_LENGTH}`)
  const [, , host = ""] = control.test(text) ? [] : form.exec(text) ?? []
  if (host === "") throw refuse(reasonOf(text))
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLiteral = host.startsWith("[") && IpAddress.parse(host.slice(1, -1)) !== undefined
  if (url === undefined || (!isLiteral && url.hostname !== host.toLowerCase())) {
    throw refuse(`the host of the URL, ${host}, is not in its usual notation. Write a name, or an address as 192.0.2.1 or [2001:db8::1]`)
  }
  return url
}

/** Tests whether a text is the origin of URLs, in the form that all of them have. */
export const isOrigin = (text: string): boolean => form.test(text) && URL.canParse(text) && new URL(text).origin === text

/** The origin of a text for messages: paths and queries may have secrets. */
export const originOf = (text: string): string => URL.canParse(text) ? new URL(text).origin : "to an invalid URL"

/** The place that a URL names. */
export const targetOf = ({ hostname, port, protocol }: URL): Target => ({
  host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
  port: port === "" ? protocol === "https:" ? 443 : 80 : Number(port)
})
