/**
 * The body of an answer: a small text in the value, any other body in the content of the space.
 *
 * @module
 */
import { Channel } from "systole"
import { header, type Headers } from "./Transport.ts"

/** The maximum size of a text in the value, in bytes. */
export const MAX_INLINE = 65_536

/** The types of text without `text/` or a suffix of a structured type. */
const texts: ReadonlySet<string> = new Set([
  "application/graphql", "application/javascript", "application/json", "application/x-ndjson", "application/x-www-form-urlencoded",
  "application/xml", "application/yaml"
])
const structured = /^text\/|\+(?:json|xml)$/
const unicode = /^(?:utf-?8|us-ascii)$/

/** Tests whether headers declare a text in UTF-8 without a further encoding. */
const isText = (headers: Headers): boolean => {
  const [type = "", ...parameters] = (header(headers, "content-type") ?? "").toLowerCase().split(";").map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length).replaceAll("\"", "")
  const isPlain = ["identity", undefined].includes(header(headers, "content-encoding")?.toLowerCase())
  return isPlain && (texts.has(type) || structured.test(type)) && (charset === undefined || unicode.test(charset))
}

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  parts.reduce((at, part) => (bytes.set(part, at), at + part.byteLength), 0)
  return bytes
}

/** A stored or short body, and its size in bytes. */
export interface StoredBody {
  readonly body?: string
  readonly content?: string
  readonly bytes: number
}

/** A body to take in. */
export interface IncomingBody {
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array>
  /** The maximum number of bytes. */
  readonly limit: number
  /** The maximum number of characters that a text may have in JSON. */
  readonly room: number
  readonly keep: Channel.Job["keep"]
}

const tooLarge = (limit: number) =>
  Channel.fail("http/size", `the body of the answer has more than ${limit} bytes. Ask for a part of it, or raise maxBytes`, { errno: -27 })

/** Counts the bytes of a body, and fails at the first chunk beyond its limit. */
class Counted {
  size = 0
  failure: unknown
  private readonly chunks: AsyncIterator<Uint8Array>
  private readonly limit: number

  constructor({ body, limit }: IncomingBody) {
    this.chunks = body[Symbol.asyncIterator]()
    this.limit = limit
  }

  async next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.chunks.next()
    if (done === true) return undefined
    this.size += value.byteLength
    if (this.size > this.limit) throw tooLarge(this.limit)
    return value
  }

  /** The given parts, then the rest. The failure is kept, because the receiver may report another one. */
  async *after(parts: ReadonlyArray<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* parts
    try {
      for (let part = await this.next(); part !== undefined; part = await this.next()) yield part
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}

/** Takes in a whole body of at most {@link MAX_INLINE} bytes, or the first chunks of a longer one. */
const begin = async (source: Counted): Promise<{ readonly parts: ReadonlyArray<Uint8Array>; readonly isWhole: boolean }> => {
  const parts: Array<Uint8Array> = []
  while (source.size <= MAX_INLINE) {
    const part = await source.next()
    if (part === undefined) return { parts, isWhole: true }
    parts.push(part)
  }
  return { parts, isWhole: false }
}

/**
 * Takes in the body of an answer. A text of at most 64 KiB is returned; any other body is streamed into the content store.
 *
 * @throws ChannelError: `http/size` beyond the limit
 */
export const take = async (incoming: IncomingBody): Promise<StoredBody> => {
  const { headers, keep, limit, room } = incoming
  const length = header(headers, "content-length")
  if (length !== undefined && Number(length) > limit) throw tooLarge(limit)
  const source = new Counted(incoming)
  const { isWhole, parts } = await begin(source)
  if (isWhole && source.size === 0) return { body: "", bytes: 0 }
  const body = isWhole && isText(headers) ? decode(joined(parts)) : undefined
  if (body !== undefined && JSON.stringify(body).length <= room) return { body, bytes: source.size }
  const kept = await keep(isWhole ? joined(parts) : source.after(parts), limit).catch((error: unknown) => {
    throw source.failure ?? error
  })
  return { content: kept.address, bytes: source.size }
}
