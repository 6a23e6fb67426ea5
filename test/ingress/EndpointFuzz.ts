/**
 * Random requests to each endpoint, drawn by its own schemas from a seed: valid ones, and the same with a fault.
 *
 * @module
 */
import { Arbitrary, Cause, Effect, Exit } from "effect"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import * as Refusals from "../../src/contract/EndpointRefusals.ts"
import type { Lazy } from "../../src/contract/Face.ts"
import { kindOf, statuses } from "../../src/contract/Refusal.ts"
import * as Random from "../support/Random.ts"

/** A request, and the endpoint for which it is meant. */
export interface Drawn {
  readonly endpoint: Endpoint
  readonly path: string
  readonly init: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string }
}

/** The names of the server's records, by the parameter or the field that holds them. */
export type Known = Readonly<Record<string, ReadonlyArray<string | number>>>

/** Names of a server, and meaningless ones. */
const names = ["shop", "shop", "shop", "other", "count", "x.1.0", "1", "data/count", "sys", "%2e%2e", "%00", "ä", "a".repeat(300), "-"]

const texts = ["", "/data/count", "/signals/count", "sts:ok", "op/x", "wait=1", "\"x\"", "*", "\u0000", "9".repeat(30), "1e999", "$rich"]

/** Values of a schema in their encoded form; none for a schema from which no value can be drawn, as that of bytes. */
const samples = (schema: Lazy, seed: number): ReadonlyArray<unknown> => {
  try {
    return Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(Schema.toEncoded(schema())), { seed, count: 1, size: 8 }))
  } catch {
    return []
  }
}

/** A value with a fault: a field less, a field more, or another type in the place of one. */
const broken = (value: unknown, draw: Random.Random): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return Random.pick(draw, [null, [], {}, "x", 1e308, [value]])
  const fields = Object.entries(value)
  const at = draw(fields.length + 1)
  if (at === fields.length) return { ...value, [Random.pick(draw, ["more", "__proto__", "$rich", ""])]: 1 }
  const [name = ""] = fields[at] ?? []
  const { [name]: _, ...rest } = value as Readonly<Record<string, unknown>>
  return draw(2) === 0 ? rest : { ...rest, [name]: Random.pick(draw, [null, 1, -1, {}, [[]], ...texts]) }
}

/** The sources of a request. */
interface Sources {
  readonly draw: Random.Random
  readonly known: Known
}

/** A value whose fields mostly name records of the server. */
const naming = (value: unknown, { draw, known }: Sources): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const named = Object.keys(value).flatMap((field) => field in known && draw(4) > 0 ? [[field, Random.pick(draw, known[field] ?? [])]] : [])
  return { ...value, ...Object.fromEntries(named) as object }
}

const bodyOf = (
  { bodies = {}, body }: Endpoint,
  { draw, known }: Sources
): { readonly type: string; readonly text: string } | undefined => {
  if (body === undefined) return undefined
  const plain = ["application/json", body] as const
  const [type, schema] = Random.pick(draw, [plain, plain, ...Object.entries(bodies)])
  const [sample = draw(1000)] = samples(schema, draw(2 ** 31))
  const value = naming(sample, { draw, known })
  const given = draw(3) === 0 ? broken(value, draw) : value
  const isLines = type.endsWith("ndjson") && Array.isArray(given)
  const text = isLines ? given.map((each) => JSON.stringify(each)).join("\n") : JSON.stringify(given)
  return { type: draw(20) === 0 ? "text/plain" : type, text: draw(20) === 0 ? text.slice(0, draw(text.length + 1)) : text }
}

const queryOf = ({ query }: Endpoint, { draw, known }: Sources): string => {
  if (query === undefined || draw(3) === 0) return ""
  const [value = {}] = samples(query, draw(2 ** 31))
  const fields = Object.entries(naming(value, { draw, known }) as object).filter(([, each]) => each !== undefined && draw(2) === 0)
  if (draw(5) === 0) fields.push([Random.pick(draw, ["more", "limit", "after", "path"]), Random.pick(draw, texts)])
  return `?${new URLSearchParams(fields.map(([name, each]) => [name, String(each)])).toString()}`
}

/** Headers that hold no line break, which no client can send. */
const headersOf = ({ headers }: Endpoint, draw: Random.Random): Readonly<Record<string, string>> =>
  Object.fromEntries(headers.flatMap((header) => {
    if (draw(3) > 0) return []
    const [name = "", form] = header.split(": ")
    const value = form !== undefined && draw(2) === 0 ? form.replace("N", "0") : Random.pick(draw, texts).replaceAll("\u0000", "")
    return [[name.toLowerCase(), value]]
  }))

/** Draws a request to an endpoint. */
export const request = (endpoint: Endpoint, { draw, known }: Sources): Drawn => {
  const { method } = endpoint
  const path = endpoint.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const own = known[name]
    return own === undefined || draw(8) === 0 ? Random.pick(draw, names) : encodeURIComponent(Random.pick(draw, own))
  }).replace("*", () => Random.pick(draw, names))
  const body = bodyOf(endpoint, { draw, known })
  return {
    endpoint,
    path: `${path}${queryOf(endpoint, { draw, known })}`,
    init: {
      method,
      headers: { ...body === undefined ? {} : { "content-type": body.type }, ...headersOf(endpoint, draw) },
      ...body === undefined || method === "GET" ? {} : { body: body.text }
    }
  }
}

/** Codes of refusals of any endpoint: its path is none, or of a slice that is left out. */
const ANYWHERE = ["route/absent", "route/method", "slice/absent"]

/** The fault of a body in JSON by the schema of its status. */
const bodyFault = ({ answer, others, status }: Endpoint, response: Response, text: string): string | undefined => {
  const schema = response.status === status ? answer : others?.[response.status]
  if (schema === undefined || response.headers.get("content-type") !== "application/json") return undefined
  const exit = Schema.decodeUnknownExit(schema() as Schema.Codec<unknown>, { onExcessProperty: "error" })(JSON.parse(text))
  if (Exit.isSuccess(exit)) return undefined
  return `the body does not fit its contract: ${Cause.pretty(exit.cause).slice(0, 500)} in ${text.slice(0, 300)}`
}

/** The fault of an answer by the contract of its endpoint; `undefined` for none. */
export const faultOf = ({ endpoint }: Drawn, response: Response, text: string): string | undefined => {
  const { status } = response
  const isKnown = status === endpoint.status || endpoint.others?.[status] !== undefined
  if (status < 400) return isKnown ? bodyFault(endpoint, response, text) : `no answer has the status ${status}`
  if (response.headers.get("content-type") !== "application/problem+json") return `status ${status} is no problem: ${text.slice(0, 200)}`
  const { code, event } = JSON.parse(text) as { readonly code: string; readonly event?: unknown }
  // The code of a dead letter is that of an application.
  if (event !== undefined) return response.headers.get("location") === null ? "an event that is over has no location" : undefined
  if (!Refusals.of(endpoint).includes(code) && !ANYWHERE.includes(code)) return `it does not refuse with ${code} (${status})`
  const kind = kindOf(code)
  if (kind === undefined || statuses[kind][0] !== status) return `${code} has the status ${status}`
  return status >= 500 && status !== 503 ? `status ${status}` : undefined
}
