/**
 * Request bodies, with the size enforced while they are read, and the rules of {@link JsonText} for texts from outside.
 *
 * @module
 */
import * as Bytes from "../../cell/Bytes.ts"
import * as JsonText from "../../cell/JsonText.ts"
import { RequestRefused } from "./Problem.ts"

/** The maximum size of a JSON body, in bytes. */
export const MAX_JSON_BYTES = 1_048_576

/** A byte order mark stays in the text, so that it is refused. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON body. Rejects with {@link RequestRefused}.
 */
export const json = async (request: Request): Promise<unknown> => {
  const type = request.headers.get("content-type")
  if (type === null || !isJson(type)) {
    throw new RequestRefused({
      code: "body/media-type",
      reason: `The body's type is ${type ?? "not given"}. Send it with content-type: application/json`
    })
  }
  return parse(await text(request))
}

/**
 * The text of a body. Rejects with {@link RequestRefused}.
 */
export const text = async (request: Request): Promise<string> => {
  return decodeText(await whole(request))
}

/**
 * The text of the bytes of a body.
 *
 * @throws RequestRefused
 */
export const decodeText = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed("its bytes are not UTF-8")
  }
}

/**
 * The bytes of a body, up to {@link MAX_JSON_BYTES}. Rejects with {@link RequestRefused}.
 */
export const whole = async (request: Request): Promise<Uint8Array> => {
  // A body with a declared length is read at once; a chunked body is read chunk by chunk against the limit.
  if (checkedLength(request, MAX_JSON_BYTES) === undefined) return joined(request)
  let bytes: Uint8Array
  try {
    bytes = new Uint8Array(await request.arrayBuffer())
  } catch {
    throw brokenOff()
  }
  if (bytes.byteLength > MAX_JSON_BYTES) throw tooLarge(MAX_JSON_BYTES)
  return bytes
}

/**
 * The chunks of a body, up to `limit` bytes in total. Rejects with {@link RequestRefused}, whose message ends with `remedy`.
 */
export async function* chunks(request: Request, limit: number, remedy?: string): AsyncGenerator<Uint8Array> {
  checkedLength(request, limit)
  let size = 0
  if (request.body === null) return
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength
      if (size > limit) throw tooLarge(limit, remedy)
      yield chunk
    }
  } catch (error) {
    throw error instanceof RequestRefused ? error : brokenOff()
  }
}

/**
 * The `content-length` of a request; `undefined` if it has none.
 *
 * @throws RequestRefused
 */
export const checkedLength = (request: Request, limit: number): number | undefined => {
  const declared = request.headers.get("content-length")
  if (declared === null) return undefined
  const size = Number(declared)
  if (size > limit) throw tooLarge(limit)
  return size
}

/**
 * Parses a count or the number of a beat from a URL.
 *
 * @throws RequestRefused
 */
export const count = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new RequestRefused({
    code: "query/invalid",
    reason: `${JSON.stringify(text.slice(0, 100))} is no count and no number of a beat. Write it in digits`
  })
}

/** Whether a media type is one of JSON. */
export const isJson = (type: string): boolean => type === "application/json" || /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(type)

const joined = async (request: Request): Promise<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  for await (const chunk of chunks(request, MAX_JSON_BYTES)) parts.push(chunk)
  return Bytes.concat(parts)
}

const tooLarge = (limit: number, remedy = "Send less in one request") =>
  new RequestRefused({
    code: "body/too-large",
    reason: `The body has more than ${limit} bytes, which is the limit. ${remedy}`
  })

const brokenOff = () => new RequestRefused({ code: "body/malformed", reason: "The body broke off before its end. Send the request again" })

const malformed = (reason: string) =>
  new RequestRefused({ code: "body/malformed", reason: `The body is not JSON: ${reason}. Send one JSON value in UTF-8` })

/**
 * Parses the JSON of a body, or of a part of it.
 *
 * @throws RequestRefused
 */
export const parse = (text: string, numbers?: JsonText.Numbers): unknown => {
  try {
    return JsonText.parse(text, numbers)
  } catch (error) {
    throw error instanceof JsonText.InvalidJson ? refusalOf(error) : error
  }
}

const refusalOf = ({ code, reason }: JsonText.InvalidJson): RequestRefused => {
  if (code === "json/syntax") return malformed(reason)
  return new RequestRefused({ code: codes[code], reason: `The body is refused: ${reason}` })
}

const codes = { "json/depth": "body/too-deep", "json/key": "body/key", "json/number": "body/number" } as const
