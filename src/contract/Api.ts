/**
 * The endpoints as an `HttpApi` of Effect, for its clients and for the OpenAPI document.
 *
 * @module
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import type { Answers, Endpoint } from "./Endpoint.ts"
import * as Problem from "./Problem.ts"

/** The name of an endpoint: its method and the segments of its path, such as `post_spaces_ops_state`. */
export const nameOf = ({ method, path }: Endpoint): string =>
  [method.toLowerCase(), ...path.split("/").filter((segment) => /^[a-z]/.test(segment) && segment !== "v1")].join("_") +
  (path.endsWith("*") ? "_at" : "") + [...path.matchAll(/:(\w+)/g)].slice(1).map(([, name]) => `_${name}`).join("")

const paramsOf = (path: string): Schema.Struct.Fields =>
  Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, Schema.String]))

const answersOf = ({ answer, others = {}, status }: Endpoint): ReadonlyArray<Schema.Top> =>
  Object.entries({ [status]: answer, ...others } as Answers).map(([status, schema]) => HttpApiSchema.status(Number(status))(schema()))

const made = (endpoint: Endpoint): HttpApiEndpoint.Constraint => {
  const { body, does, method, path, query } = endpoint
  const options = {
    disableCodecs: true as const,
    params: Schema.Struct(paramsOf(path)),
    ...query === undefined ? {} : { query: query() },
    ...body === undefined || method === "GET" ? {} : { payload: body() },
    success: answersOf(endpoint),
    error: [HttpApiSchema.status(400)(Problem.schema())]
  }
  const make = HttpApiEndpoint.make(method) as unknown as (name: string, path: string, options: object) => Annotated
  return make(nameOf(endpoint), path, options).annotate(OpenApi.Description, does)
}

/** An endpoint that can be described. */
interface Annotated {
  annotate(tag: typeof OpenApi.Description, text: string): HttpApiEndpoint.Constraint
}

/**
 * The API of endpoints.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (endpoints: ReadonlyArray<Endpoint>) => {
  const group = endpoints.reduce(
    (group, endpoint) => group.add(made(endpoint) as never),
    HttpApiGroup.make("systole") as HttpApiGroup.HttpApiGroup<string, never>
  )
  return HttpApi.make("systole").add(group)
}
