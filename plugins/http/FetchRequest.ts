/**
 * The payload of the opcode `fetch`.
 *
 * @module
 */
import { Channel } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as HeaderField from "./HeaderField.ts"
import type { HttpRequest } from "./HttpClient.ts"
import * as OriginHeaders from "./OriginHeaders.ts"
import * as Status from "./Status.ts"
import type { Headers } from "./Transport.ts"

/** A decoded payload. */
export interface FetchRequest extends Omit<HttpRequest, "body"> {
  /** The bytes of the body, or the address of stored content. */
  readonly body: Uint8Array | string | undefined
  readonly maxBytes: number
  /** Tests whether a status is accepted. */
  readonly isExpected: (status: number) => boolean
  /** The accepted statuses, for messages. */
  readonly expected: string
}

/** The most headers of a request. */
const MAX_HEADERS = 100

/** The most accepted statuses. */
const MAX_STATUSES = 500

/** The largest body of an answer at all, in bytes: 1 GiB. */
export const MOST_BYTES = 1_073_741_824

const content = /^\/cas\/[0-9a-f]{64}$/

/** The methods that make a tunnel, or send back the headers of the request. */
const refusedMethods: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"])

const isMethod = (value: unknown): value is string =>
  typeof value === "string" && HeaderField.isToken(value) && !refusedMethods.has(value.toUpperCase())

const isBody = (value: unknown): value is string | Uint8Array => typeof value === "string" || value instanceof Uint8Array

/** The field of a URL. */
export const url = Fields.guard("a URL such as https://example.com/", (value): value is string | URL =>
  typeof value === "string" || value instanceof URL)

const statuses = Fields.list(Fields.count(100, 599), MAX_STATUSES)

const isExpectation = (value: unknown): value is "2xx" | ReadonlyArray<number> =>
  value === "2xx" || (Array.isArray(value) && value.length > 0 && statuses.read(value) !== undefined)

/** The fields of the payload. */
export const fields = {
  url,
  method: Fields.or(Fields.guard("a method such as GET or POST, and none of CONNECT, TRACE and TRACK", isMethod), "GET"),
  headers: Fields.or(Fields.texts(Fields.text(HeaderField.MAX_CHARS), MAX_HEADERS), {}),
  body: Fields.optional(Fields.guard("a text, bytes or an address /cas/<sha256>", isBody)),
  redirect: Fields.or(Fields.oneOf("follow", "manual", "error"), "follow"),
  maxBytes: Fields.optional(Fields.count(0, MOST_BYTES)),
  expect: Fields.optional(Fields.guard(`"2xx" or a list of 1 to ${MAX_STATUSES} statuses`, isExpectation))
}

const refuse = (reason: string) => Channel.fail("io/invalid", reason, { errno: -22 })

/** The headers of a payload. The channel sets its `own` ones. */
const headersOf = (headers: Readonly<Record<string, string>>, own: ReadonlySet<string>): Headers => {
  const entries = Object.entries(headers)
  for (const [name, value] of entries) {
    if (!HeaderField.isToken(name)) throw refuse(`the header name ${JSON.stringify(name.slice(0, 100))} is no token`)
    if (HeaderField.isReserved(name)) throw refuse(`the header ${name} is set by the channel. Leave it out`)
    if (own.has(name.toLowerCase())) throw refuse(`the header ${name} is set by the channel for this origin. Leave it out`)
    // The value may be a credential, so no message has it.
    if (!HeaderField.isLine(value)) throw refuse(`the header ${name} is no text of one line in Latin-1`)
  }
  const chars = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (chars > HeaderField.MAX_CHARS) throw refuse(`the headers have ${chars} characters; the limit is ${HeaderField.MAX_CHARS}`)
  return entries.map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
}

/** Adds the usual headers that an author left out. */
const withDefaults = (headers: Headers, isText: boolean): Headers => {
  const usual = [
    ["accept", "*/*"],
    // The body arrives as it is: the size that a server announces is the size that is stored.
    ["accept-encoding", "identity"],
    ["user-agent", "systole"],
    ...isText ? [["content-type", "text/plain;charset=UTF-8"] as const] : []
  ] as const
  return [...headers, ...usual.filter(([name]) => !headers.some(([given]) => given === name))]
}

const expectationOf = (expected: "2xx" | ReadonlyArray<number> | undefined): Pick<FetchRequest, "expected" | "isExpected"> => {
  if (expected === undefined) return { expected: "any status", isExpected: () => true }
  if (expected === "2xx") return { expected, isExpected: Status.isOk }
  return { expected: expected.join(", "), isExpected: (status) => expected.includes(status) }
}

/** The limits of a channel. */
export interface Limits {
  /** The largest body of an answer, in bytes. */
  readonly maxBytes: number
  /** The headers of the channel, which no payload may set for their origin. */
  readonly headers: OriginHeaders.OriginHeaders
}

/**
 * Decodes a payload within the limits of its channel.
 *
 * @throws ChannelError `io/invalid`
 */
export const decode = (payload: Fields.Of<typeof fields>, limits: Limits): FetchRequest => {
  const { body, expect, headers, maxBytes = limits.maxBytes, redirect, url } = payload
  const method = payload.method.toUpperCase()
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw refuse(`a request with ${method} has no body. Use POST`)
  if (maxBytes > limits.maxBytes) throw refuse(`maxBytes is ${maxBytes}, and the limit of the channel is ${limits.maxBytes}`)
  const isText = typeof body === "string" && !content.test(body)
  const own = OriginHeaders.namesOf(limits.headers, String(url))
  return {
    url: String(url),
    method,
    headers: withDefaults(headersOf(headers, own), isText),
    body: isText ? new TextEncoder().encode(body) : body,
    redirect,
    maxBytes,
    ...expectationOf(expect)
  }
}
