/**
 * `systole flow`: lists, starts, follows, pauses, resumes and cancels flows.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Flow from "../flow/Flow.ts"
import type { InstanceRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Json from "./Json.ts"
import * as Output from "./Output.ts"
import * as PageList from "./PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"
import * as SpaceArgument from "./SpaceArgument.ts"

const instances: RecordCommand.Records = {
  segment: "flows",
  id: Argument.String("inst").pipe(Argument.withDescription("The id of the instance, such as order17"))
}

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  PageList.noted<Flow.Described>("/v1/flows", "flows").pipe(
    Effect.flatMap((flows) => Output.data(json, flows, flows.flatMap(
      ({ name, steps }) =>
        [name, ...steps.map(({ goals, kind, step }) => `  ${step.padEnd(16)} ${kind.padEnd(10)} → ${goals.join(", ")}`)]
    )))
  )).pipe(Command.withDescription("List the flows that are declared, step by step"))

const list = PageList.command<InstanceRow>({
  name: "list",
  description: "List the instances of flows of a space",
  after: "Where the list before ended, as an id",
  page: PageList.served("flows", "instances"),
  columns: (row) => [row.inst, row.state, row.flow, row.pc]
})

const start = Command.make("start", {
  space: SpaceArgument.name,
  flow: Argument.String("flow").pipe(Argument.withDescription("The name of the flow")),
  input: Flag.String("input").pipe(Flag.withDescription("The input of the flow, as JSON"), Flag.optional),
  id: Flag.String("id").pipe(Flag.withDescription("The id of the instance; minted unless given"), Flag.optional),
  json: Output.json
}, ({ flow, id, input, json, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const value = Option.isSome(input) ? { input: yield* Json.parse("--input", input.value) } : {}
    const named = Option.isSome(id) ? { inst: id.value } : {}
    const started = yield* client.ask<{ readonly inst: string; readonly beat: number }>(
      `${SpaceArgument.path(space)}/flows`,
      { method: "POST", body: { flow, ...value, ...named } }
    )
    yield* Output.data(json, started, `started ${started.inst} in beat ${started.beat}`)
  })).pipe(Command.withDescription("Start an instance of a flow"))

const lines = ({ flow, history, input, inst, jobs, note, pc, started, state, steps_used }: InstanceRow): ReadonlyArray<string> => [
  `${inst} ${flow} ` +
    `${state}${state === "ready" || state === "waiting" || state === "paused" ? ` at ${pc}` : ""}${note === undefined ? "" : `: ${note}`}`,
  `  started in beat ${started}, ${steps_used} steps, with ${JSON.stringify(input)}`,
  ...history.map(({ beat, kind, outcome, step }) => `  beat ${beat} ${step} ${kind} ${outcome}`),
  ...Object.entries(jobs).map(([step, { key, signal }]) => `  ${step} hears of ${key ?? signal}`)
]

const show = RecordCommand.show(instances, { description: "Print how an instance stands, step by step", lines })

const watch = RecordCommand.watch<InstanceRow>(instances, {
  description: "Print how an instance stands now, and again after each beat that changes it",
  times: "Stop after this many changes",
  version: ({ note, pc, state, steps_used }) => ({
    fields: { state, pc, steps_used, note },
    line: `${state} at ${pc}${note === undefined ? "" : `: ${note}`}`
  })
})

const act = (name: "pause" | "resume" | "cancel", description: string) =>
  RecordCommand.act(instances, { name, description, done: (inst, beat) => `${name} of ${inst} in beat ${beat}` })

/**
 * The command `flow`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("flow").pipe(
  Command.withDescription("Look at flows, start, follow, pause and cancel them"),
  Command.withSubcommands([
    ls,
    list,
    start,
    show,
    watch,
    act("pause", "Have an instance take no more steps"),
    act("resume", "Have a paused instance go on"),
    act("cancel", "End an instance, and the rendezvous that it waits for")
  ]),
  Command.provide(Client.layer)
)
