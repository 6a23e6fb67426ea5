/**
 * The routes of an application, made from endpoints: requests are decoded, and answers are encoded by their schemas.
 *
 * A reader has a table of its own, so that it reaches no endpoint but those that are served to readers.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Context, Hono } from "hono"
import * as Decision from "../../access/Decision.ts"
import * as Token from "../../access/Token.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import * as Codec from "../../contract/Codec.ts"
import type { AnswerOf, DecodedRequest, Endpoint } from "../../contract/Endpoint.ts"
import type { Fields, Lazy } from "../../contract/Face.ts"
import { cellIn, REFERENCE } from "../../contract/Paths.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import type { Viewer } from "../../kernel/view/Space.ts"
import * as Access from "../access/Access.ts"
import * as Body from "../wire/Body.ts"
import type { CallerAccess } from "../access/Caller.ts"
import * as Json from "../wire/Json.ts"
import * as Problem from "../wire/Problem.ts"
import * as TokenView from "../access/TokenView.ts"
import type { ServedRequest } from "../wire/HttpTelemetry.ts"
import { detached, failureOf, gone, type Runner } from "../wire/Runner.ts"

/** A decoded request, its caller, and its token if it has one with a scope. */
export type RoutedRequest<E> = DecodedRequest<E> & {
  readonly by: CallerAccess
  readonly token?: Token.Token | undefined
  readonly runner: Runner
}

/** The answer of a handler: one that the schema of its endpoint encodes, or a response as it is. */
export type Reply<E> = Response | Promise<Response> | Effect.Effect<AnswerOf<E> | Response, unknown>

/** The Hono environment of a request: the view of its reader, its token, and its session. */
export interface Environment {
  readonly Bindings: Omit<CallerAccess, "reader"> & { readonly reader: Viewer }
}

/** The parts of a table. */
export interface Parts {
  /** Receives each failure of the runtime. The response body omits its details. */
  readonly reporter: Pick<Reporter, "report">
  /** The refusal of requests that add data, while the host is full. */
  readonly full?: (() => Error | undefined) | undefined
  /** The failure for a path of a slice that the runtime is without. */
  readonly absent?: (path: string) => Error | undefined
  /** Counts the refusals of tokens. */
  readonly tokens?: Pick<TokenSet, "deny"> | undefined
}

/**
 * The routes of an application.
 */
export class RouteTable {
  /** The endpoints that are served, in the order of their routes. */
  readonly endpoints: Array<Endpoint> = []
  /** The routes of all callers but readers. */
  readonly operator = new Hono<Partial<Environment>>({ getPath: Access.pathOf })
  /** The routes of readers. */
  protected readonly readers = new Hono<Environment>({ getPath: Access.pathOf })
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
    this.operator.onError((failure, c) => this.failed(failure, servedIn(c)))
    this.readers.onError((failure, c) => this.failed(failure, servedIn(c)))
    this.operator.notFound((c) => this.absent(c.req))
    this.readers.notFound((c) => {
      const { reader, ...by } = c.env
      // A token sees more than readers do, as far as its scope admits it.
      return by.token === undefined ? this.refused(withheld(c.req.path, reader), servedIn(c)) : this.operator.fetch(c.req.raw, by)
    })
  }

  /** The answer to a request that failed, whose failure is reported if it is one of the runtime. */
  readonly failed = (failure: unknown, served?: ServedRequest): Response => {
    if (failure === gone) return new Response(null, { status: 499 })
    this.report(failure)
    return this.refused(failure, served)
  }

  /** The answer to a request that is refused. */
  refused(failure: unknown, served?: ServedRequest): Response {
    if (served !== undefined) served.code = Problem.codeIn(failure)
    return Problem.response(failure)
  }

  /** Answers a request of a reader, within the scope of a token, or of another caller. */
  fetch(request: Request, by: CallerAccess = {}): Response | Promise<Response> {
    const { reader, served, session, token } = by
    if (token !== undefined) return this.scoped(request, token, by)
    if (reader !== undefined) return this.readers.fetch(request, { ...by, reader })
    return this.operator.fetch(request, { served, session })
  }

  /** Answers a request within the scope of a token: from a view of the space where there is one and the token has no more. */
  private scoped(request: Request, token: Token.Token, by: CallerAccess): Response | Promise<Response> {
    const isViewed = Decision.isViewed(token, request.method === "POST")
    return isViewed ? this.readers.fetch(request, { ...by, reader: TokenView.viewerOf(token) }) : this.operator.fetch(request, by)
  }

  /** Serves a path that is no endpoint to everybody. */
  open(path: string, handle: (request: Request) => Response): void {
    const answer = exactly(path, (c) => {
      notes(c, path)
      return handle(c.req.raw)
    })
    this.operator.get(path, answer)
    this.readers.get(path, answer)
  }

  /** Serves a path that is no endpoint, such as a page, to callers that may read all spaces. */
  page(path: string, handle: (request: Request) => Response | Promise<Response>): void {
    this.operator.get(path, exactly(path, (c) => {
      notes(c, path)
      this.decide({ access: "operator", verb: "read" }, c)
      return handle(c.req.raw)
    }))
  }

  /** @throws AccessRefused for a request beyond the scope of its token */
  private decide(rule: Decision.Rule, { env, req }: Context): void {
    const { hasOther = false, reader, token } = (env ?? {}) as Partial<Environment["Bindings"]>
    if (token === undefined) return
    // On the hot path of signals: a token for all spaces and addresses needs no look at the path.
    const space = token.spaces === undefined ? undefined : req.param("space")
    const place = { space, cell: token.prefixes === undefined ? undefined : cellIn(req.raw.url) }
    // The routes of the operator show the whole space.
    const seen = reader === undefined && Token.isNarrow(token) ? { ...rule, access: "operator" as const } : rule
    const refused = Decision.refusalOf(token, seen, place)
    if (refused === undefined) return
    if (!hasOther) this.parts.tokens?.deny(token.id, refused.code)
    throw refused
  }

  /** Reports a failure of the runtime to the log and the metrics. */
  readonly report = (failure: unknown): void => {
    if (Problem.isReported(failure)) this.parts.reporter.report(UnexpectedFailure.of(failure))
  }

  /** Serves an endpoint to all callers but readers, and to them, too, where each holder of a credential may ask. */
  serve<E extends Endpoint>(endpoint: E, handle: (asked: RoutedRequest<E>) => Reply<E>): void {
    this.endpoints.push(endpoint)
    const { access, method, path } = endpoint
    const answer = exactly(path, (c) => this.answer(endpoint, c, handle))
    this.operator.on(method, path, answer)
    if (access === "holder") this.readers.on(method, path, answer)
  }

  /** The answer to a request, whoever asks; while the host is full, one that adds data is refused. */
  protected answer<E extends Endpoint>(
    endpoint: E,
    c: Context,
    handle: (asked: RoutedRequest<E>) => Reply<E>
  ): Response | Promise<Response> {
    notes(c, endpoint.path)
    this.decide(endpoint, c)
    const refused = endpoint.effect === "adds" ? this.parts.full?.() : undefined
    if (refused !== undefined) throw refused
    return respond(endpoint, c, handle)
  }

  /** The answer for a request without a route: 404, or 405 with the allowed methods. */
  private absent({ method, path }: { readonly method: string; readonly path: string }): Response {
    const { router } = this.operator
    const isAllowed = (other: string): boolean =>
      router.match(other, path)[0].some(([[, route]]) => route.method === other && isExact(route.path, path))
    const allow = methods.filter(isAllowed)
    if (allow.length > 0) return Problem.notAllowed({ method, path }, allow.join(", "))
    const reason = (REFERENCE as ReadonlyArray<string>).includes(path)
      ? `This host is without ${path}. A server has it, and a Worker whose binding REFERENCE has the folder assets of its build`
      : `There is nothing at ${method} ${path.slice(0, 200)}`
    return Problem.response(this.parts.absent?.(path) ?? new Problem.RequestRefused({ code: "route/absent", reason }))
  }
}

/** Whether a path is one of a pattern. The router of Workers takes one with a slash at its end for the one without. */
const isExact = (pattern: string, path: string): boolean => !path.endsWith("/") || /[*/]$/.test(pattern)

/**
 * The handler of a path that matches its pattern to the end.
 */
export const exactly = (
  path: string,
  handle: (c: Context) => Response | Promise<Response>
) =>
  (c: Context): Response | Promise<Response> => isExact(path, c.req.path) ? handle(c) : c.notFound()

/** The request of a context, as its telemetry follows it. */
const servedIn = ({ env }: Context): ServedRequest | undefined => (env as CallerAccess | undefined)?.served

/** Notes the route of a request, and its space. */
const notes = (c: Context, path: string): void => {
  const served = servedIn(c)
  if (served === undefined) return
  served.route = path
  served.space = c.req.param("space")
}

const methods = ["GET", "PUT", "POST", "DELETE"] as const

/**
 * The refusal of a path that is reserved for the operator.
 */
export const withheld = (path: string, { name }: Pick<Viewer, "name">) =>
  new Problem.RequestRefused({
    code: "label/withheld",
    reason: `${path.slice(0, 200)} is not for reader "${name}", who reads cells, sends signals and looks at their receipts. Ask with ` +
      "the operator's token"
  })

/**
 * The parameters of a query, decoded.
 *
 * @throws RequestRefused
 */
export const queryOf = (schema: Fields, given: Readonly<Record<string, string>>): unknown => {
  try {
    return Codec.decodeTexts(schema, given)
  } catch (error) {
    throw error instanceof Codec.Misfit
      ? new Problem.RequestRefused({ code: "query/invalid", reason: `The query ${error.reason}` })
      : error
  }
}

/** Decodes a body before its space is looked for. */
const bodyOf = async (schema: Lazy, invalid: Endpoint["invalid"], request: Request): Promise<unknown> => {
  const given = await Body.json(request)
  try {
    return Codec.decode(schema, given)
  } catch (error) {
    if (!(error instanceof Codec.Misfit)) throw error
    const refused = error.isMissing ? invalid?.(`it ${error.reason}`) : undefined
    throw refused ?? new Problem.RequestRefused({ code: "body/malformed", reason: `The body does not say what to do: it ${error.reason}` })
  }
}

const nothing = {}

/** A request, decoded, with its body. */
const asked = <E extends Endpoint>({ isByHand = false, query }: Endpoint, { env, req }: Context, body: unknown): RoutedRequest<E> => ({
  by: (env ?? nothing) as CallerAccess,
  token: (env as CallerAccess | undefined)?.token,
  runner: (env as CallerAccess | undefined)?.served?.runner ?? detached,
  params: req.param(),
  query: query === undefined || isByHand ? nothing : queryOf(query, req.query()),
  body,
  request: req.raw
} as unknown as RoutedRequest<E>)

/**
 * The reply of a handler as a response. Only a body is awaited before, since the hot paths of the ingress have none to decode.
 */
export const respond = <E extends Endpoint>(
  endpoint: E,
  c: Context,
  handle: (asked: RoutedRequest<E>) => Reply<E>
): Response | Promise<Response> => {
  const { body, invalid, isByHand = false } = endpoint
  const given = asked<E>(endpoint, c, nothing)
  if (body === undefined || isByHand) return responded(endpoint, given, handle)
  return bodyOf(body, invalid, c.req.raw).then((body) => responded(endpoint, { ...given, body } as RoutedRequest<E>, handle))
}

const responded = <E extends Endpoint>(endpoint: E, given: RoutedRequest<E>, handle: (asked: RoutedRequest<E>) => Reply<E>) => {
  const reply = handle(given)
  return Effect.isEffect(reply) ? ran(endpoint, given, reply) : reply
}

/** Runs the effect of a reply. A read is cancelled when its client disconnects. */
const ran = async <E extends Endpoint>(
  endpoint: E,
  given: RoutedRequest<E>,
  reply: Effect.Effect<AnswerOf<E> | Response, unknown>
): Promise<Response> => {
  const { signal } = given.request
  const exit = await given.runner.exit(reply, endpoint.effect === "reads" ? { signal } : {})
  if (Exit.isSuccess(exit)) return exit.value instanceof Response ? exit.value : responseOf(endpoint, exit.value, given)
  throw failureOf(exit.cause, signal)
}

const responseOf = (endpoint: Endpoint, answer: unknown, { params }: Pick<DecodedRequest<Endpoint>, "params">): Response => {
  const headers = {
    ...endpoint.location === undefined ? {} : { location: endpoint.location(answer, params) },
    ...endpoint.isUncached ? Json.noStore.headers : {}
  }
  return Json.answer(Codec.encode(endpoint.answer, answer), { status: endpoint.status, headers })
}
