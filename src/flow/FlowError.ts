/**
 * The refusals of flows.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/** A flow definition is invalid. */
export class InvalidFlow extends Schema.TaggedError<InvalidFlow>()("InvalidFlow", { name: Schema.String, reason: Schema.String }) {
  readonly code = "flow/declared"
  override get message() {
    return `Flow "${this.name}" is refused: ${this.reason}`
  }
}

/** The request is malformed. */
export class InvalidFlowRequest extends Schema.TaggedError<InvalidFlowRequest>()("InvalidFlowRequest", { reason: Schema.String }) {
  readonly code = "flow/invalid"
  override get message() {
    return `The flow is refused: ${this.reason}`
  }
}

/** No flow with that name is loaded. */
export class FlowUnknown extends Schema.TaggedError<FlowUnknown>()("FlowUnknown", { name: Schema.String }) {
  readonly code = "flow/unknown"
  override get message() {
    return `There is no flow "${this.name.slice(0, 200)}". Declare it with Flow.make in a module of a folder of enzymes, or start another`
  }
}

/** The instance does not exist. */
export class InstanceAbsent extends Schema.TaggedError<InstanceAbsent>()("InstanceAbsent", { inst: Schema.String }) {
  readonly code = "flow/absent"
  override get message() {
    return `There is no instance "${this.inst.slice(0, 200)}" of a flow. List those there are, or start one`
  }
}

/** An instance with that id exists. */
export class InstanceExists extends Schema.TaggedError<InstanceExists>()("InstanceExists", { inst: Schema.String }) {
  readonly code = "flow/exists"
  override get message() {
    return `Instance "${this.inst}" exists already. Start the flow with another id`
  }
}

/** The state of an instance does not allow the action. */
export class InstanceRefused extends Schema.TaggedError<InstanceRefused>()(
  "InstanceRefused",
  { inst: Schema.String, state: Schema.String, action: Schema.String }
) {
  readonly code = "flow/state"
  override get message() {
    return `Instance "${this.inst}" is ${this.state}, so there is nothing to ${this.action}. Look how it stands, and ask for what it ` +
      "can do from there"
  }
}

/** The limit on open instances is reached. */
export class FlowsFull extends Schema.TaggedError<FlowsFull>()("FlowsFull", { limit: Schema.Number }) {
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
