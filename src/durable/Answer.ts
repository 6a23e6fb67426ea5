/**
 * Answers of HTTP, as the body of a durable run reads them.
 *
 * @module
 */
import * as Data from "effect/Data"
import type * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import * as JsonText from "../cell/JsonText.ts"
import type { Value } from "../cell/Value.ts"
import { attempt } from "../registry/PayloadSchema.ts"
import type { Fetched, IoResult } from "../stage/Io.ts"

/**
 * The body of an answer is no JSON, or does not fit the schema.
 */
export class AnswerInvalid extends Data.TaggedError("AnswerInvalid")<{
  /** Its URL and status, or the id of its request. */
  readonly answer: string
  readonly reason: string
}> {
  readonly code = "http/answer"
  override get message() {
    return `The answer of ${this.answer} cannot be read: ${this.reason}. ` +
      "Check its status first, or give a schema that fits what the server sends"
  }
}

/** The value that the channel `http` returns. */
interface Answer {
  readonly status: number
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  readonly content?: string
}

/** Reads stored content. */
type Read = (address: string) => Value

/**
 * The result of a request with the answer of the server. `read` reads the content of the space.
 */
export const of = (result: IoResult, read: Read): Fetched => {
  const bytesOf = (address: string): Uint8Array => {
    const bytes = read(address)
    if (bytes instanceof Uint8Array) return bytes
    throw new AnswerInvalid({ answer: `request ${result.rid}`, reason: `its content ${address} was removed` })
  }
  const answer = (): Answer => {
    const { value } = result
    return (isContent(value) ? JSON.parse(decode(bytesOf(value))) : value ?? {}) as Answer
  }
  const text = (): string => {
    const { body, content } = answer()
    return body ?? (content === undefined ? "" : decode(bytesOf(content)))
  }
  const bytes = (): Uint8Array => {
    const { body, content } = answer()
    return content === undefined ? new TextEncoder().encode(body) : bytesOf(content)
  }
  return Object.defineProperties({ ...result }, {
    status: { get: () => answer().status },
    headers: { get: () => answer().headers },
    body: { get: () => answer().body ?? answer().content },
    text: { value: text },
    bytes: { value: bytes },
    json: { value: (schema?: Schema.Decoder<unknown>) => json(answer(), text(), schema) }
  }) as Fetched
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Whether the value of a result is the address of its content, as for long values. */
const isContent = (value: unknown): value is string => typeof value === "string" && Address.isWithin("/cas", value)

const json = ({ status, url }: Answer, text: string, schema: Schema.Decoder<unknown> | undefined): unknown => {
  const parsed = parse(text)
  const decoded = "reason" in parsed || schema === undefined ? parsed : attempt(schema, parsed.value)
  if ("reason" in decoded) throw new AnswerInvalid({ answer: `${url} (status ${status})`, reason: decoded.reason })
  return decoded.value
}

const parse = (text: string): { readonly value: unknown } | { readonly reason: string } => {
  try {
    return { value: JsonText.parse(text) }
  } catch (error) {
    if (!(error instanceof JsonText.InvalidJson)) throw error
    return { reason: error.reason }
  }
}
