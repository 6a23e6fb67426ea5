/**
 * `systole flow`: lists, starts, follows, pauses, resumes and cancels flows.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Flow from "../flow/Flow.ts"
import type { InstanceRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Json from "./Json.ts"
import * as Output from "./Output.ts"
import * as SpaceCommand from "./SpaceCommand.ts"

const inst = Argument.String("inst").pipe(Argument.withDescription("The id of the instance, such as order17"))

const path = (space: string, inst: string): string => `${SpaceCommand.path(space)}/flows/${encodeURIComponent(inst)}`

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  Client.use((client) => client.ask<{ readonly flows: ReadonlyArray<Flow.Described> }>("/v1/flows")).pipe(
    Effect.flatMap(({ flows }) => Output.data(json, flows, flows.flatMap(
      ({ name, steps }) => [name, ...steps.map(({ goals, kind, step }) => `  ${step.padEnd(16)} ${kind.padEnd(10)} → ${goals.join(", ")}`)]
    )))
  )).pipe(Command.withDescription("List the flows that are declared, step by step"))

const list = Command.make("list", {
  space: SpaceCommand.name,
  limit: Flag.Int("limit").pipe(Flag.withDescription("At most this many"), Flag.withDefault(20)),
  after: Flag.String("after").pipe(Flag.withDescription("Where the list before ended, as an id"), Flag.optional),
  json: Output.json
}, ({ after, json, limit, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const from = Option.match(after, { onNone: () => "", onSome: (inst) => `&after=${encodeURIComponent(inst)}` })
    const { instances, next } = yield* client.ask<{ readonly instances: ReadonlyArray<InstanceRow>; readonly next: string | null }>(
      `${SpaceCommand.path(space)}/flows?limit=${limit}${from}`
    )
    yield* Output.data(json, instances, Output.table(instances.map((row) => [row.inst, row.state, row.flow, row.pc])))
    if (next !== null) yield* Output.note(`there are more: --after ${next}`)
  })).pipe(Command.withDescription("List the instances of flows of a space"))

const start = Command.make("start", {
  space: SpaceCommand.name,
  flow: Argument.String("flow").pipe(Argument.withDescription("The name of the flow")),
  input: Flag.String("input").pipe(Flag.withDescription("What it is started with, as JSON"), Flag.optional),
  id: Flag.String("id").pipe(Flag.withDescription("The id of the instance; minted unless given"), Flag.optional),
  json: Output.json
}, ({ flow, id, input, json, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const value = Option.isSome(input) ? { input: yield* Json.parse("--input", input.value) } : {}
    const named = Option.isSome(id) ? { inst: id.value } : {}
    const started = yield* client.ask<{ readonly inst: string; readonly beat: number }>(
      `${SpaceCommand.path(space)}/flows`,
      { method: "POST", body: { flow, ...value, ...named } }
    )
    yield* Output.data(json, started, `started ${started.inst} in beat ${started.beat}`)
  })).pipe(Command.withDescription("Start an instance of a flow"))

const show = Command.make("show", { space: SpaceCommand.name, inst, json: Output.json }, ({ inst, json, space }) =>
  Client.use((client) => client.ask<InstanceRow>(path(space, inst))).pipe(
    Effect.flatMap((row) => Output.data(json, row, lines(row)))
  )).pipe(Command.withDescription("Print how an instance stands, step by step"))

const lines = ({ flow, history, input, inst, jobs, note, pc, started, state, steps_used }: InstanceRow): ReadonlyArray<string> => [
  `${inst} ${flow} ` +
    `${state}${state === "ready" || state === "waiting" || state === "paused" ? ` at ${pc}` : ""}${note === undefined ? "" : `: ${note}`}`,
  `  started in beat ${started}, ${steps_used} steps, with ${JSON.stringify(input)}`,
  ...history.map(({ beat, kind, outcome, step }) => `  beat ${beat} ${step} ${kind} ${outcome}`),
  ...Object.entries(jobs).map(([step, { key, signal }]) => `  ${step} hears of ${key ?? signal}`)
]

const watch = Command.make("watch", {
  space: SpaceCommand.name,
  inst,
  times: Flag.Int("times").pipe(Flag.withDescription("Stop after this many changes"), Flag.optional),
  json: Output.json
}, ({ inst, json, space, times }) =>
  Effect.gen(function*() {
    const events = (yield* Client).events(path(space, inst))
    const some = Option.isSome(times) ? Stream.take(events, times.value) : events
    yield* Stream.runForEach(some, ({ data, id }) => {
      const { note, pc, state, steps_used } = JSON.parse(data) as InstanceRow
      return Output.data(
        json,
        { beat: id, state, pc, steps_used, note },
        `${id}  ${state} at ${pc}${note === undefined ? "" : `: ${note}`}`
      )
    })
  })).pipe(Command.withDescription("Print how an instance stands now, and again after each beat that changes it"))

const act = (name: "pause" | "resume" | "cancel", description: string) =>
  Command.make(name, { space: SpaceCommand.name, inst, json: Output.json }, ({ inst, json, space }) =>
    Client.use((client) => client.ask<{ readonly beat: number }>(`${path(space, inst)}/${name}`, { method: "POST" })).pipe(
      Effect.flatMap((answer) => Output.data(json, answer, `${name} of ${inst} in beat ${answer.beat}`))
    )).pipe(Command.withDescription(description))

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
