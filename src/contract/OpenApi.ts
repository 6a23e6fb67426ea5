/**
 * The OpenAPI 3.1 document of endpoints, from the `HttpApi` of Effect.
 *
 * @module
 */
import * as HttpOpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as Api from "./Api.ts"
import type { Endpoint } from "./Endpoint.ts"
import * as Refusals from "./EndpointRefusals.ts"
import { COOKIE, SPACE } from "./Paths.ts"
import * as Problem from "./Problem.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
type JsonObject = { readonly [name: string]: Json }

const isObject = (json: Json | undefined): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json)

/** The texts by which a number that JSON has not is written. No answer has one. */
const isInfinite = (json: Json): boolean => isObject(json) && Array.isArray(json["enum"]) && json["enum"].includes("Infinity")

/** A schema without the forms of infinite numbers and of absent fields, which answers do not have. */
const tidied = (json: Json, isOptional = false): Json => {
  if (Array.isArray(json)) return json.map((each: Json) => tidied(each))
  if (!isObject(json)) return json
  const { anyOf, properties, required = [], ...rest } = json
  if (Array.isArray(anyOf)) {
    const left = anyOf.filter((each: Json) => !isInfinite(each) && !(isOptional && isObject(each) && each["type"] === "null"))
    return left.length === 1 ? tidied({ ...left[0] as JsonObject, ...rest }) : { ...rest, anyOf: left.map((each) => tidied(each)) }
  }
  const others = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, tidied(value)]))
  if (!isObject(properties)) return "required" in json ? { ...others, required } : others
  const names = required as ReadonlyArray<Json>
  const fields = Object.entries(properties).map(([name, schema]) => [name, tidied(schema, !names.includes(name))])
  return { ...others, properties: Object.fromEntries(fields) as JsonObject, ...names.length === 0 ? {} : { required } }
}

const schemaOf = (schema: Schema.Top): Json =>
  tidied(Schema.toJsonSchemaDocument(schema as Schema.Codec<unknown>).schema as unknown as Json)

/** A path whose `*` is the address of a cell, without its first slash. */
const pathOf = (path: string): string => path.replace("/*", "/{address}").replaceAll(/:(\w+)/g, "{$1}")

const ADDRESS = {
  name: "address", in: "path", required: true, schema: { type: "string" },
  description: "The address of a cell without its first slash, such as data/orders/17"
}

/** The header of an endpoint, which its contract writes as a name with a form, such as `Prefer: wait=N`. */
const headerOf = (text: string): Json => {
  const [name = "", form] = text.split(": ")
  return { name, in: "header", schema: { type: "string" }, ...form === undefined ? {} : { description: `Such as ${form}` } }
}

const PROBLEM = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } }

const refusalsOf = (endpoint: Endpoint): JsonObject =>
  Object.fromEntries([...Refusals.byStatus(endpoint)].map(([status, codes]) =>
    [status, { description: codes.join(", "), content: PROBLEM }]))

/** Further bodies of an endpoint, by their media types. That of a media type with a body of its own is one of both. */
const bodiesOf = ({ bodies = {} }: Endpoint, content: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(bodies).map(([type, schema]) => {
    const own = content[type] as { readonly schema: Json } | undefined
    return [type, { schema: own === undefined ? schemaOf(schema()) : { anyOf: [own.schema, schemaOf(schema())] } }]
  }))

/** The media types of answers and bodies that are no JSON. */
const BYTES = { "application/octet-stream": { schema: { type: "string", format: "binary" } } }

/** Whether a status is that of an answer, and not of a refusal. */
const isAnswer = ({ others = {}, status }: Endpoint, given: string): boolean => given === String(status) || Object.hasOwn(others, given)

/** The group of an endpoint: the first segment of its path below a space. */
export const tagOf = ({ path }: Pick<Endpoint, "path">): string => path.split("/")[4] ?? "runtime"

/** The credentials of a request. */
const SCHEMES: JsonObject = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "The token of the configuration or of a reader, a token of systole token create, a JSON Web Token of the issuer that " +
      "the configuration names, or the bearer of a session"
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: COOKIE,
    description: "A session, begun with POST /v1/session. On a loopback address its name is systole-<port>. A request that changes " +
      "something needs the origin of this server or the header x-systole-csrf, too"
  }
}

/** The ways to show one. A configuration may make single reads public, which need none. */
const SECURITY: Json = Object.keys(SCHEMES).map((name) => ({ [name]: [] }))

/** The operation of an endpoint. */
const operationOf = (endpoint: Endpoint, made: JsonObject): JsonObject => {
  const { access, content, does, events, headers, method, path } = endpoint
  const { operationId: _, parameters = [], requestBody, responses, security: __, tags: ___, ...rest } = tidied(made) as JsonObject
  const isBytes = path.includes("/blobs")
  const own = isObject(requestBody) && isObject(requestBody["content"]) ? requestBody["content"] : {}
  const body = isBytes ? BYTES : { ...own, ...bodiesOf(endpoint, own) }
  const known = Object.entries(responses as JsonObject).filter(([status]) => isAnswer(endpoint, status))
  const answers = known.map(([status, answer]) => {
    const { content: given, ...others } = answer as JsonObject
    const stream = events !== undefined && status === "200" ? { "text/event-stream": { schema: { type: "string" } } } : {}
    const shown = isBytes && method === "GET" ? BYTES : { ...given as JsonObject, ...stream }
    return [status, { ...others, ...status === "304" ? {} : { content: shown } }]
  })
  return {
    operationId: Api.nameOf(endpoint),
    tags: [tagOf(endpoint)],
    summary: does.split(/[.:] /, 1)[0]!.slice(0, 100),
    ...rest,
    description: content === undefined ? does : `${does} The body is ${content}.`,
    parameters: [...parameters as ReadonlyArray<Json>, ...path.endsWith("*") ? [ADDRESS] : [], ...headers.map(headerOf)],
    ...method === "GET" || Object.keys(body).length === 0 ? {} : { requestBody: { required: true, content: body } },
    responses: {
      ...refusalsOf(endpoint),
      ...Object.fromEntries(answers) as JsonObject,
      default: { description: "A failure", content: PROBLEM }
    },
    security: access === "anyone" ? [] : SECURITY
  }
}

/**
 * The document of endpoints.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (endpoints: ReadonlyArray<Endpoint>): JsonObject => {
  const made = HttpOpenApi.fromApi(Api.make(endpoints)) as unknown as { readonly paths: Readonly<Record<string, JsonObject>> }
  const paths: Record<string, JsonObject> = {}
  for (const endpoint of endpoints) {
    const method = endpoint.method.toLowerCase()
    const operation = made.paths[endpoint.path.replaceAll(/:(\w+)/g, "{$1}")]?.[method] as JsonObject
    paths[pathOf(endpoint.path)] = { ...paths[pathOf(endpoint.path)], [method]: operationOf(endpoint, operation) }
  }
  const tags = [...new Set(endpoints.map(tagOf))]
    .map((name) => ({ name, description: name === "runtime" ? "The runtime and its spaces" : `${SPACE}/${name}` }))
  return {
    openapi: "3.1.0",
    info: { title: "Systole", version: "1", description: "The HTTP interface of a runtime.", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    tags,
    paths,
    components: {
      schemas: { Problem: schemaOf(Problem.schema()) },
      securitySchemes: SCHEMES
    }
  }
}
