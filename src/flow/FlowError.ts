/**
 * The refusals of flows.
 *
 * @module
 */
import * as Data from "effect/Data"

/** A flow definition is invalid. */
export class InvalidFlow extends Data.TaggedError("InvalidFlow")<{ readonly name: string; readonly reason: string }> {
  readonly code = "flow/declared"
  override get message() {
    return `Flow "${this.name}" is refused: ${this.reason}`
  }
}

/** The request is malformed. */
export class InvalidFlowRequest extends Data.TaggedError("InvalidFlowRequest")<{ readonly reason: string }> {
  readonly code = "flow/invalid"
  override get message() {
    return `The flow is refused: ${this.reason}`
  }
}

/** No flow with that name is loaded. */
export class FlowUnknown extends Data.TaggedError("FlowUnknown")<{ readonly name: string }> {
  readonly code = "flow/unknown"
  override get message() {
    return `There is no flow "${this.name.slice(0, 200)}". Declare it with Flow.make in a module of a folder of enzymes, or start another`
  }
}

/** The instance does not exist. */
export class InstanceAbsent extends Data.TaggedError("InstanceAbsent")<{ readonly inst: string }> {
  readonly code = "flow/absent"
  override get message() {
    return `There is no instance "${this.inst.slice(0, 200)}" of a flow. List those there are, or start one`
  }
}

/** An instance with that id exists. */
export class InstanceExists extends Data.TaggedError("InstanceExists")<{ readonly inst: string }> {
  readonly code = "flow/exists"
  override get message() {
    return `Instance "${this.inst}" exists already. Start the flow with another id`
  }
}

/** The state of an instance does not allow the action. */
export class InstanceRefused extends Data.TaggedError("InstanceRefused")<{
  readonly inst: string
  readonly state: string
  readonly action: string
}> {
  readonly code = "flow/state"
  override get message() {
    return `Instance "${this.inst}" is ${this.state}, so there is nothing to ${this.action}. Look how it stands, and ask for what it ` +
      "can do from there"
  }
}

/** The limit on open instances is reached. */
export class FlowsFull extends Data.TaggedError("FlowsFull")<{ readonly limit: number }> {
  readonly code = "flow/full"
  override get message() {
    return `${this.limit} instances of flows in the space are not over, which is the limit. Let some of them end, cancel some, or raise ` +
      "the limit flowInstances"
  }
}

/** All refusals of the verbs. */
export type FlowError = InvalidFlowRequest | FlowUnknown | FlowsFull | InstanceAbsent | InstanceExists | InstanceRefused

/** The refusal classes, which distinguish refusals from unexpected failures. */
export const refusals = [InvalidFlowRequest, FlowUnknown, FlowsFull, InstanceAbsent, InstanceExists, InstanceRefused] as const

declare module "../ledger/LedgerError.ts" {
  interface Refusals {
    readonly flow: FlowError
  }
}
