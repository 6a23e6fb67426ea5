/**
 * Endpoints: each request that HTTP takes, as data.
 *
 * Routes, access, the tables of readers and of full hosts, and the reference are made from them. An endpoint imports no kernel and
 * no store, so a browser can take it, too. Its schemas are made when they are first used.
 *
 * @module
 */
import type * as Schema from "effect/Schema"
import type { Fields, Lazy } from "./Face.ts"

/** The methods of endpoints. */
export type Method = "GET" | "PUT" | "POST" | "DELETE"

/**
 * The callers of an endpoint. `anyone` needs no token; a `holder` has a credential, whatever its scope. A `reader` has a limited
 * clearance; a `worker` shows the token of the record that it reports on. The operator may call all endpoints.
 */
export type Caller = "anyone" | "holder" | "operator" | "reader" | "worker"

/**
 * The right that a token needs for an endpoint. `report` ends rendezvous without their tokens, `operate` controls a space and its
 * records, and `admin` makes and removes spaces and tokens.
 */
export type Verb = (typeof verbs)[number]

/** All verbs, from the least. */
export const verbs = ["read", "signal", "write", "report", "operate", "admin"] as const

/** An answer or an event of a stream: its schema by its status or its name. */
export type Answers = Readonly<Record<string | number, Lazy>>

/** An endpoint without its method and path. */
export interface Options<Path extends string, Query extends Fields, Body extends Lazy, Answer extends Lazy, Access extends Caller> {
  /** The effect and the answer, as one or more sentences. */
  readonly does: string
  /** The parameters of the query, each a text. */
  readonly query?: Query
  /** The headers that it reads, each with its form if it has one, such as `Prefer: wait=N`. */
  readonly headers?: ReadonlyArray<string>
  /** The schema of its body. */
  readonly body?: Body
  /** Further bodies that it takes, each by its media type. */
  readonly bodies?: Readonly<Record<string, Lazy>>
  /** The content of a body that is no object with fields, in words. */
  readonly content?: string
  /** Whether its handler decodes the query and the body itself: it is on a hot path, or its body is no JSON. */
  readonly isByHand?: boolean
  /** The failure for a body without a field that it needs. A body that is wrong in another way is malformed. */
  readonly invalid?: (reason: string) => Error
  /** The schema of its answer. */
  readonly answer: Answer
  /** The status of its answer; 200 unless given. */
  readonly status?: number
  /** Answers with another status that are no refusals. */
  readonly others?: Answers
  /** The path of the thing that it made, from its answer and the parameters of its path. */
  readonly location?: (answer: ReturnType<Answer>["Type"], params: Params<Path>) => string
  /** The events of its stream, for a request that asks for one. */
  readonly events?: Answers
  /** The codes of its refusals, beside those that follow from its path, body, query and callers; see {@link EndpointRefusals.of}. */
  readonly refusals?: ReadonlyArray<string>
  readonly access?: Access
  /** The right that a token needs for it; see {@link verbOf} for those that state none. */
  readonly verb?: Verb
  /** Whether it reads, adds data, or controls what was accepted before. A full host refuses those that add. By its method unless given. */
  readonly effect?: Effect
  /** Whether no cache may keep its answer. One that is read with a credential is never kept: a cookie does not tell a cache so. */
  readonly isUncached?: boolean
}

/** The effect of a request on the data. */
export type Effect = "reads" | "adds" | "controls"

/** The parameters of a path by their names. */
export type Params<Path extends string> = string extends Path ? Readonly<Record<string, string>>
  : { readonly [Name in Names<Path>]: string }

type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}` ? Name | Names<Rest>
  : Path extends `${string}:${infer Name}` ? Name
  : never

/**
 * A request that HTTP takes.
 *
 * @category models
 * @since 0.2.0
 */
export interface Endpoint<
  Path extends string = string,
  Query extends Fields = Fields,
  Body extends Lazy = Lazy,
  Answer extends Lazy = Lazy,
  Access extends Caller = Caller
> extends Omit<Options<Path, Query, Body, Answer, Access>, "location"> {
  readonly method: Method
  readonly path: Path
  readonly headers: ReadonlyArray<string>
  readonly status: number
  readonly access: Access
  readonly verb: Verb
  readonly effect: Effect
  readonly isUncached: boolean
  location?(answer: ReturnType<Answer>["Type"], params: Params<Path>): string
}

/** The types of a method, and of answers beside the usual one, which a typed client needs. */
export interface EndpointTypes<M extends Method, Others extends Answers, Events extends Answers> {
  readonly method: M
  readonly others?: Others
  readonly events?: Events
}

/** The fields of nothing. */
export type NoFields = Lazy<Schema.Struct<{}>>

const effects: Readonly<Record<Method, Effect>> = { GET: "reads", PUT: "adds", POST: "adds", DELETE: "controls" }

/** The right for an endpoint that states none: workers report, the methods that read are `read`, and the others `operate`. */
const verbOf = (method: Method, access: Caller = "operator"): Verb =>
  access === "worker" ? "report" : method === "GET" ? "read" : "operate"

/**
 * Makes an endpoint.
 */
export const make = <
  const Path extends string,
  Answer extends Lazy,
  Query extends Fields = NoFields,
  Body extends Lazy = NoFields,
  const Access extends Caller = "operator",
  const M extends Method = Method,
  Others extends Answers = {},
  Events extends Answers = {}
>(
  method: M,
  path: Path,
  options: Options<Path, Query, Body, Answer, Access> & Omit<EndpointTypes<M, Others, Events>, "method">
): Endpoint<Path, Query, Body, Answer, Access> & EndpointTypes<M, Others, Events> => ({
  headers: [],
  status: 200,
  access: "operator" as Access,
  verb: verbOf(method, options.access),
  effect: effects[method],
  isUncached: method === "GET" && options.access !== "anyone",
  ...options,
  method,
  path
})

/** The answer of an endpoint. */
export type AnswerOf<E> = E extends { readonly answer: Lazy<infer S> } ? S["Type"] : never

/** A request to an endpoint, decoded. */
export interface DecodedRequest<E> {
  readonly params: E extends { readonly path: infer Path extends string } ? Params<Path> : never
  readonly query: E extends { readonly query?: Lazy<infer S> } ? S["Type"] : never
  readonly body: E extends { readonly body?: Lazy<infer S> } ? S["Type"] : never
  readonly request: Request
}
