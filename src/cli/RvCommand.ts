/**
 * `systole rv`: lists, follows, reschedules, reports and ends rendezvous.
 *
 * @module
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { RendezvousRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Json from "./Json.ts"
import * as Output from "./Output.ts"
import * as PageList from "./PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"
import * as SpaceArgument from "./SpaceArgument.ts"

const key = Argument.String("key").pipe(Argument.withDescription("The key of the rendezvous, such as job17"))

const rendezvous: RecordCommand.Records = { segment: "rv", id: key }

const list = PageList.command<RendezvousRow>({
  name: "list",
  description: "List the rendezvous of a space",
  after: "Where the list before ended, as a key",
  page: PageList.served("rv", "rendezvous"),
  columns: (row) => [row.key, row.state, row.prof, `due ${row.due}`, row.deadline === 0 ? "" : `until ${row.deadline}`, row.inst_id ?? ""]
})

const show = RecordCommand.show<RendezvousRow>(rendezvous, {
  description: "Print how a rendezvous stands",
  lines: (row) =>
    Object.entries(row).map(([name, value]) => `${name.padEnd(12)} ${typeof value === "object" ? JSON.stringify(value) : value}`)
})

const watch = RecordCommand.watch<RendezvousRow>(rendezvous, {
  description: "Print how a rendezvous stands now, and again after each beat that changes it",
  times: "Stop after this many changes",
  version: ({ due, grace_used, state, telemetry }) => ({
    fields: { state, due, grace_used, telemetry },
    line: `${state} due ${due} graces ${grace_used} ${JSON.stringify(telemetry)}`
  })
})

const kill = (name: "cancel" | "kill", description: string) =>
  Command.make(name, {
    space: SpaceArgument.name,
    key,
    wait: Flag.Int("wait").pipe(Flag.withDescription("How many scans from now"), Flag.withDefault(0)),
    json: Output.json
  }, ({ json, key, space, wait }) =>
    Effect.flatMap(
      RecordCommand.change(rendezvous, { space, id: key, verb: "kill" }, { body: { mode: name, wait } }),
      (done) => Output.data(json, done, `asked ${key} to end in beat ${done.beat}`)
    )).pipe(Command.withDescription(description))

const resched = Command.make("resched", {
  space: SpaceArgument.name,
  key,
  by: Flag.Int("by").pipe(Flag.withDescription("By how many beats it is put off; a negative number brings it forward")),
  json: Output.json
}, ({ by, json, key, space }) =>
  Effect.flatMap(
    RecordCommand.change(rendezvous, { space, id: key, verb: "resched" }, { body: { delta: by } }),
    (done) => Output.data(json, done, `moved ${key} by ${by} in beat ${done.beat}`)
  )).pipe(Command.withDescription("Move the beat at which a rendezvous is due"))

const release = RecordCommand.act(rendezvous, {
  name: "release",
  description: "Release a rendezvous from quarantine: it has its time for a report and its graces again",
  done: (key, beat) => `released ${key} in beat ${beat}`
})

/** The token of a worker. It is no argument, because other users can list the arguments of processes. */
const workerToken = Config.option(Config.NonEmptyString("SYSTOLE_RV_TOKEN"))

const report = Command.make("report", {
  space: SpaceArgument.name,
  key,
  telemetry: Flag.String("telemetry").pipe(Flag.withDescription("The telemetry of the report: a JSON object"), Flag.optional),
  json: Output.json
}, ({ json, key, space, telemetry }) =>
  Effect.gen(function*() {
    const token = yield* workerToken
    const fields = Option.isSome(telemetry) ? { telemetry: yield* Json.parse("--telemetry", telemetry.value) } : {}
    const headers: Readonly<Record<string, string>> = Option.isSome(token) ? { authorization: `Rendezvous ${token.value}` } : {}
    const done = yield* RecordCommand.change(rendezvous, { space, id: key, verb: "report" }, { body: fields, headers })
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
