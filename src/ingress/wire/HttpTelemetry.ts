/**
 * The telemetry of HTTP requests: a span and a duration each, with the route and the status.
 *
 * No path, query, header or body is in it: they may hold a secret.
 *
 * @module
 */
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { Telemetry } from "../../diagnostic/Telemetry.ts"
import type { Runner } from "./Runner.ts"

/** The route of a request that no route takes. */
const NO_ROUTE = "none"

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])

/** A request in progress. Its route and its refusal are noted where they are decided. */
export class ServedRequest {
  /** Runs the Effects of the request. */
  readonly runner: Runner
  route = NO_ROUTE
  space: string | undefined
  /** The code of its refusal or failure. */
  code: string | undefined
  readonly span: Tracer.Span | undefined

  constructor(runner: Runner, span: Tracer.Span | undefined) {
    this.runner = runner
    this.span = span
  }
}

/** The codes of refusals by a credential, its scope or a rate. */
const isDenial = (status: number, code: string | undefined): boolean =>
  status === 401 || status === 403 || code?.startsWith("access/") === true

/** Answers a request. */
type Answer = (served: ServedRequest) => Response | Promise<Response>

/** The telemetry of an application. */
export class HttpTelemetry {
  private readonly telemetry: Telemetry
  private readonly runner: Runner
  /** The notes of each request, where neither spans nor metrics are taken. */
  private readonly unread: ServedRequest

  constructor(telemetry: Telemetry, runner: Runner) {
    this.telemetry = telemetry
    this.runner = runner
    this.unread = new ServedRequest(runner, undefined)
  }

  /** Answers a request, and reports it when its response begins, if spans or metrics are taken. */
  observed(request: Request, answer: Answer): Response | Promise<Response> {
    if (!this.telemetry.isHeard) return answer(this.unread)
    const since = this.telemetry.now()
    const method = methods.has(request.method) ? request.method : "_OTHER"
    const span = this.span(request, method)
    const served = new ServedRequest(span === undefined ? this.runner : this.runner.under(span), span)
    const ended = (response: Response): Response => {
      this.ended(served, { method, since, status: response.status })
      return response
    }
    const answered = answer(served)
    return answered instanceof Promise ? answered.then(ended) : ended(answered)
  }

  /** The span of a request, below that of its caller (`traceparent`). */
  private span(request: Request, method: string): Tracer.Span | undefined {
    if (!this.telemetry.isTraced) return undefined
    const traceparent = request.headers.get("traceparent")
    const parent = traceparent === null
      ? undefined
      : Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })))
    const attributes = { "http.request.method": method }
    return this.telemetry.span(`http.server ${method}`, { kind: "server", parent, attributes })
  }

  private ended(
    { code, route, space, span }: ServedRequest,
    { method, since, status }: { readonly method: string; readonly since: bigint; readonly status: number }
  ): void {
    const { telemetry } = this
    telemetry.add("http.server.request.duration", telemetry.since(since), method, route, String(status))
    if (isDenial(status, code)) telemetry.add("systole.denials", 1, code ?? "unknown")
    if (span === undefined) return
    span.attribute("http.route", route)
    span.attribute("http.response.status_code", status)
    if (space !== undefined) span.attribute("systole.space", space)
    if (code !== undefined) span.attribute("systole.code", code)
    telemetry.end(span, status >= 500 ? code ?? String(status) : undefined)
  }
}
