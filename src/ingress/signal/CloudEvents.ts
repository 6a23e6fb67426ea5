/**
 * CloudEvents 1.0 over HTTP: structured, batched, and binary, where the attributes are headers. An event becomes a signal.
 *
 * The payload is the whole event in its structured form, so that no attribute is lost. The type of the event is the signal. Its
 * source and its id are its own id, so that a second delivery is known, as CloudEvents define it. A space in the source, which no URI
 * has, is written as `%20` there: the first space ends the source.
 *
 * @module
 */
import * as Digest from "../../cell/Digest.ts"
import type { PostedSignal } from "../../kernel/view/Space.ts"
import * as Body from "../wire/Body.ts"
import { RequestRefused } from "../wire/Problem.ts"
import * as SignalRequest from "./SignalRequest.ts"

/** The form of the events of a request. */
export type Mode = "structured" | "batch" | "binary"

/**
 * The form of the events of a request; `undefined` for one without any.
 */
export const modeOf = ({ headers }: Request): Mode | undefined => {
  const type = (headers.get("content-type") ?? "").toLowerCase()
  if (type.startsWith("application/cloudevents-batch+json")) return "batch"
  if (type.startsWith("application/cloudevents+json")) return "structured"
  return headers.has("ce-specversion") ? "binary" : undefined
}

/** The attributes that each event has. */
const REQUIRED = ["id", "source", "type"] as const

/**
 * The signal of an event in its structured form.
 *
 * @throws RequestRefused
 */
export const signalOf = (event: unknown, idempotencyKey: string | null = null): PostedSignal => {
  if (typeof event !== "object" || event === null || Array.isArray(event)) throw malformed("it is no object")
  const attributes = event as Readonly<Record<string, unknown>>
  if (attributes["specversion"] !== "1.0") throw malformed("its specversion is not \"1.0\"")
  for (const name of REQUIRED) {
    if (typeof attributes[name] !== "string" || attributes[name] === "") throw malformed(`its ${name} is no text, or empty`)
  }
  const { id, source, type } = attributes as Readonly<Record<(typeof REQUIRED)[number], string>>
  const signal = type.startsWith("/") ? type : `/signals/${type}`
  return SignalRequest.decode({ signal, id: `${source.replaceAll(" ", "%20")} ${id}`, payload: event }, idempotencyKey)
}

const malformed = (reason: string) =>
  new RequestRefused({
    code: "body/malformed",
    reason: `The request has no CloudEvent: ${reason}. Send one with specversion "1.0", id, source and type`
  })

/** The value of an attribute, which a header has in percent-encoding. */
const attribute = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * The event of a request in the binary form, in its structured form: attributes from headers, data from the body.
 */
export const ofBinary = async (request: Request): Promise<unknown> => {
  const { headers } = request
  const attributes = [...headers].flatMap(([name, value]) => name.startsWith("ce-") ? [[name.slice("ce-".length), attribute(value)]] : [])
  const type = headers.get("content-type")
  const event = { ...Object.fromEntries(attributes) as object, ...type === null ? {} : { datacontenttype: type } }
  const bytes = await Body.whole(request)
  if (bytes.byteLength === 0) return event
  if (type !== null && Body.isJson(type)) return { ...event, data: Body.parse(Body.decodeText(bytes)) }
  return type?.startsWith("text/") === true ? { ...event, data: Body.decodeText(bytes) } : { ...event, data_base64: Digest.base64(bytes) }
}
