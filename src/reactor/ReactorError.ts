/**
 * The refusals of requests.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The request is malformed. `reason` names the first rule that it breaks. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{ readonly reason: string }> {
  readonly code = "io/invalid"
  override get message() {
    return `The request is refused: ${this.reason}`
  }
}

/** The configuration has no such channel. */
export class ChannelAbsent extends Data.TaggedError("ChannelAbsent")<{ readonly channel: string }> {
  readonly code = "io/channel-absent"
  override get message() {
    return `There is no channel "${this.channel.slice(0, 200)}". Name one of the configuration's channels, or add it there`
  }
}

/** The channel does not execute such an opcode. */
export class OpcodeAbsent extends Data.TaggedError("OpcodeAbsent")<{
  readonly channel: string
  readonly opcode: string
  readonly opcodes: ReadonlyArray<string>
}> {
  readonly code = "io/opcode-absent"
  override get message() {
    return `Channel "${this.channel}" does not do "${this.opcode.slice(0, 200)}". It does ${this.opcodes.join(", ")}`
  }
}

/** The requesting enzyme does not take the signal of the result. */
export class RequestUnheard extends Data.TaggedError("RequestUnheard")<{ readonly signal: string }> {
  readonly code = "io/unheard"
  override get message() {
    return `No enzyme takes ${this.signal}, so the result would be lost. Name a signal that an enzyme's query matches`
  }
}

/** The space has the maximum number of open requests. The run is retried. */
export class ReactorFull extends Data.TaggedError("Retry")<{ readonly limit: number }> {
  readonly code = "reactor/full"
  override get message() {
    return `The space has ${this.limit} open requests, which is the limit. Make fewer at once, or raise ioRequests`
  }
}

/** The request does not exist, or its record was deleted after its end. */
export class RequestAbsent extends Data.TaggedError("RequestAbsent")<{ readonly rid: string }> {
  readonly code = "io/request-absent"
  override get message() {
    const name = `There is no request "${this.rid.slice(0, 200)}"`
    return `${name}: it was never made, or its record has expired since its end. List the requests, and name one of them`
  }
}

/** The request has its result, so it cannot be cancelled. */
export class RequestFinished extends Data.TaggedError("RequestFinished")<{ readonly rid: string; readonly state: string }> {
  readonly code = "io/finished"
  override get message() {
    return `The request "${this.rid}" is over (${this.state}) and cannot be cancelled`
  }
}

/** All refusals of requests. */
export const refusals = [InvalidRequest, ChannelAbsent, OpcodeAbsent, RequestUnheard, ReactorFull, RequestAbsent, RequestFinished]

declare module "../ledger/LedgerError.ts" {
  interface Refusals {
    readonly io: RequestAbsent | RequestFinished | InvalidRequest | ReactorFull
  }
}
