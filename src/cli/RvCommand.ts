/**
 * `systole rv`: lists, follows, reschedules, reports and ends rendezvous.
 *
 * @module
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { RendezvousRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Json from "./Json.ts"
import * as Output from "./Output.ts"
import * as SpaceCommand from "./SpaceCommand.ts"

const key = Argument.String("key").pipe(Argument.withDescription("The key of the rendezvous, such as job17"))

const path = (space: string, key: string): string => `${SpaceCommand.path(space)}/rv/${encodeURIComponent(key)}`

/** The answer to a change: the key, and the beat that applied it. */
interface Changed {
  readonly key: string
  readonly beat: number
}

const list = Command.make("list", {
  space: SpaceCommand.name,
  limit: Flag.Int("limit").pipe(Flag.withDescription("At most this many"), Flag.withDefault(20)),
  after: Flag.String("after").pipe(Flag.withDescription("Where the list before ended, as a key"), Flag.optional),
  json: Output.json
}, ({ after, json, limit, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const from = Option.match(after, { onNone: () => "", onSome: (key) => `&after=${encodeURIComponent(key)}` })
    const { next, rendezvous } = yield* client.ask<{ readonly rendezvous: ReadonlyArray<RendezvousRow>; readonly next: string | null }>(
      `${SpaceCommand.path(space)}/rv?limit=${limit}${from}`
    )
    yield* Output.data(json, rendezvous, Output.table(rendezvous.map(
      (row) => [row.key, row.state, row.prof, `due ${row.due}`, row.deadline === 0 ? "" : `until ${row.deadline}`, row.inst_id ?? ""]
    )))
    if (next !== null) yield* Output.note(`there are more: --after ${next}`)
  })).pipe(Command.withDescription("List the rendezvous of a space"))

const show = Command.make("show", { space: SpaceCommand.name, key, json: Output.json }, ({ json, key, space }) =>
  Client.use((client) => client.ask<RendezvousRow>(path(space, key))).pipe(
    Effect.flatMap((row) => Output.data(json, row, Object.entries(row).map(
      ([name, value]) => `${name.padEnd(12)} ${typeof value === "object" ? JSON.stringify(value) : value}`
    )))
  )).pipe(Command.withDescription("Print how a rendezvous stands"))

const watch = Command.make("watch", {
  space: SpaceCommand.name,
  key,
  times: Flag.Int("times").pipe(Flag.withDescription("Stop after this many changes"), Flag.optional),
  json: Output.json
}, ({ json, key, space, times }) =>
  Effect.gen(function*() {
    const events = (yield* Client).events(path(space, key))
    const some = Option.isSome(times) ? Stream.take(events, times.value) : events
    yield* Stream.runForEach(some, ({ data, id }) => {
      const { due, grace_used, state, telemetry } = JSON.parse(data) as Readonly<Record<string, unknown>>
      return Output.data(
        json,
        { beat: id, state, due, grace_used, telemetry },
        `${id}  ${state} due ${due} graces ${grace_used} ${JSON.stringify(telemetry)}`
      )
    })
  })).pipe(Command.withDescription("Print how a rendezvous stands now, and again after each beat that changes it"))

const kill = (name: "cancel" | "kill", description: string) =>
  Command.make(name, {
    space: SpaceCommand.name,
    key,
    wait: Flag.Int("wait").pipe(Flag.withDescription("How many scans from now"), Flag.withDefault(0)),
    json: Output.json
  }, ({ json, key, space, wait }) =>
    Client.use((client) => client.ask<Changed>(`${path(space, key)}/kill`, { method: "POST", body: { mode: name, wait } })).pipe(
      Effect.flatMap((done) => Output.data(json, done, `asked ${key} to end in beat ${done.beat}`))
    )).pipe(Command.withDescription(description))

const resched = Command.make("resched", {
  space: SpaceCommand.name,
  key,
  by: Flag.Int("by").pipe(Flag.withDescription("By how many beats it is put off; a negative number brings it forward")),
  json: Output.json
}, ({ by, json, key, space }) =>
  Client.use((client) => client.ask<Changed>(`${path(space, key)}/resched`, { method: "POST", body: { delta: by } })).pipe(
    Effect.flatMap((done) => Output.data(json, done, `moved ${key} by ${by} in beat ${done.beat}`))
  )).pipe(Command.withDescription("Move the beat at which a rendezvous is due"))

const release = Command.make("release", { space: SpaceCommand.name, key, json: Output.json }, ({ json, key, space }) =>
  Client.use((client) => client.ask<Changed>(`${path(space, key)}/release`, { method: "POST" })).pipe(
    Effect.flatMap((done) => Output.data(json, done, `released ${key} in beat ${done.beat}`))
  )).pipe(Command.withDescription("Release a rendezvous from quarantine, so that its next correct report is taken"))

/** The token of a worker. It is no argument, because other users can list the arguments of processes. */
const workerToken = Config.option(Config.NonEmptyString("SYSTOLE_RV_TOKEN"))

const report = Command.make("report", {
  space: SpaceCommand.name,
  key,
  telemetry: Flag.String("telemetry").pipe(Flag.withDescription("What is reported, as JSON: an object"), Flag.optional),
  json: Output.json
}, ({ json, key, space, telemetry }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const token = yield* workerToken
    const fields = Option.isSome(telemetry) ? { telemetry: yield* Json.parse("--telemetry", telemetry.value) } : {}
    const headers: Readonly<Record<string, string>> = Option.isSome(token) ? { authorization: `Rendezvous ${token.value}` } : {}
    const done = yield* client.ask<Changed>(`${path(space, key)}/report`, { method: "POST", body: fields, headers })
    yield* Output.data(json, done, `reported ${key} in beat ${done.beat}`)
  })).pipe(
    Command.withDescription("Report the result of a rendezvous; as its worker, with its token in the environment as SYSTOLE_RV_TOKEN")
  )

/**
 * The command `rv`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("rv").pipe(
  Command.withDescription("Look at rendezvous with work outside, move, report and end them"),
  Command.withSubcommands([
    list,
    show,
    watch,
    kill("cancel", "End a rendezvous: its work is not wanted any more"),
    report,
    kill("kill", "End a rendezvous by force"),
    release,
    resched
  ]),
  Command.provide(Client.layer)
)
