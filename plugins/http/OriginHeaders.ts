/**
 * Headers that a channel adds to the requests to one origin. Their values are secrets of the host.
 *
 * They are added to a hop when it is sent, so no payload, message or redirect contains them.
 *
 * @module
 */
import { type Plugin, Redacted } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as HeaderField from "./HeaderField.ts"
import * as Secret from "./Secret.ts"
import * as TargetUrl from "./TargetUrl.ts"
import type { Headers } from "./Transport.ts"

/** The headers of each origin, with names in lower case and hidden values. */
export type OriginHeaders = ReadonlyMap<string, ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>>

/** The most headers of a channel, and the most characters of a value with its prefix. */
const MAX_HEADERS = 100
const MAX_CHARS = 8192

/** The option of a channel. */
export const field = Fields.or(Fields.list(Fields.any, MAX_HEADERS), [])

const isName = (value: unknown): value is string =>
  typeof value === "string" && HeaderField.isToken(value) && !HeaderField.isReserved(value)

/** The fields of one header. */
const fields = {
  origin: Fields.guard("an origin such as https://api.example.com, in lower case and without a path or a usual port",
    (value): value is string => typeof value === "string" && TargetUrl.isOrigin(value)),
  name: Fields.guard("a header name such as authorization, and none that the channel sets", isName),
  value: Secret.field,
  prefix: Fields.or(Fields.guard("one line of Latin-1 such as \"Bearer \"", (value): value is string =>
    typeof value === "string" && HeaderField.isLine(value)), "")
}

/** A value of one line. The end of a line in a file is left out. */
const valueOf = ({ prefix, value }: Fields.Of<typeof fields>, asked: Secret.SecretOption): Redacted.Redacted => {
  const secret = Redacted.value(Secret.read(value, asked)).trim()
  const problem = secret === "" ? "is empty" : HeaderField.isLine(secret) ? undefined : "is not one line of Latin-1"
  if (problem !== undefined) throw Secret.refusal(asked, `names ${Secret.placeOf(value)}, whose text ${problem}`)
  const text = (prefix + secret).trim()
  if (text.length <= MAX_CHARS) return Redacted.make(text)
  throw Secret.refusal(asked, `names ${Secret.placeOf(value)}, whose text has ${text.length} characters; the limit is ${MAX_CHARS}`)
}

/**
 * Reads the secrets of the option once, at the start of the channel.
 *
 * @throws InvalidPlugin for an invalid item, a missing secret, or two headers of one name for one origin
 */
export const read = (items: ReadonlyArray<unknown>, plugin: string, settings: Plugin.ChannelSettings): OriginHeaders => {
  const asked = { plugin, option: "headers", settings }
  const found = new Map<string, ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>>()
  for (const [index, item] of items.entries()) {
    const decoded = Fields.decode(fields, item, (problem) => Secret.refusal(asked, `has an invalid item ${index + 1}: ${problem}`))
    const { origin } = decoded
    const name = decoded.name.toLowerCase()
    const others = found.get(origin) ?? []
    if (others.some(([other]) => other === name)) throw Secret.refusal(asked, `has the header ${name} twice for ${origin}`)
    found.set(origin, [...others, [name, valueOf(decoded, asked)]])
  }
  return found
}

/** The names of the headers that the channel adds to a request. */
export const namesOf = (all: OriginHeaders, url: string): ReadonlySet<string> =>
  new Set(all.get(TargetUrl.originOf(url))?.map(([name]) => name))

/** The headers of one hop. Those of its origin replace others of the same name. */
export const add = (all: OriginHeaders, { origin }: URL, headers: Headers): Headers => {
  const own = all.get(origin)
  if (own === undefined) return headers
  const others = headers.filter(([name]) => !own.some(([other]) => other === name))
  return [...others, ...own.map(([name, value]) => [name, Redacted.value(value)] as const)]
}
