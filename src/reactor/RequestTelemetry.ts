/**
 * The telemetry of the attempts of requests: a span and a duration each.
 *
 * @module
 */
import type { Span } from "effect/Tracer"
import type { Telemetry } from "../diagnostic/Telemetry.ts"
import type * as Requests from "./Request.ts"

/** An attempt in progress. */
export interface Progress {
  readonly channel: string
  readonly since: bigint
  readonly span: Span | undefined
}

/** An attempt of a request. */
export interface StartedAttempt extends Pick<Requests.Request, "attempt" | "channel" | "opcode"> {
  readonly rid: string
}

/** The telemetry of the requests of one open space. */
export class RequestTelemetry {
  private readonly space: string
  private readonly telemetry: Telemetry

  constructor({ space, telemetry }: { readonly space: string; readonly telemetry: Telemetry }) {
    this.space = space
    this.telemetry = telemetry
  }

  begins({ attempt, channel, opcode, rid }: StartedAttempt): Progress {
    const { space, telemetry } = this
    telemetry.add("systole.io.requests", 1, channel)
    const attributes = {
      "systole.space": space, "systole.channel": channel, "systole.opcode": opcode, "systole.request": rid, "systole.attempt": attempt
    }
    return { channel, since: telemetry.now(), span: telemetry.span("systole.io", { kind: "client", attributes }) }
  }

  /** An attempt ended; `code` is that of its failure. */
  ends({ channel, since, span }: Progress, outcome: "ok" | "failed" | "aborted", code?: string): void {
    const { telemetry } = this
    telemetry.add("systole.io.requests", -1, channel)
    telemetry.add("systole.io.duration", telemetry.since(since), channel, outcome)
    if (span === undefined) return
    span.attribute("systole.outcome", outcome)
    telemetry.end(span, code)
  }
}
