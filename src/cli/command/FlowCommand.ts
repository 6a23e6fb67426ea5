/**
 * `systole flow declared`: the flows that are declared. The other commands of flows are made from their face.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import type * as Flow from "../../flow/Flow.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"

/**
 * The command `flow declared`.
 */
export const declared = Command.make("declared", { json: Output.json }, ({ json }) =>
  PageList.readWithNote<Flow.Described>("/v1/flows", "flows").pipe(
    Effect.flatMap((flows) => Output.data(json, flows, flows.flatMap(
      ({ name, steps }) =>
        [name, ...steps.map(({ goals, kind, step }) => `  ${step.padEnd(16)} ${kind.padEnd(10)} → ${goals.join(", ")}`)]
    )))
  )).pipe(Command.withDescription("List the flows that are declared, step by step"))
