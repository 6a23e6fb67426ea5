/**
 * `systole upgrade` and `systole store`: the formats of stores, and their upgrade to a newer one.
 *
 * An upgrade has two steps. `upgrade finish` raises the format of each space, once every host has this version; before it, the
 * version before can take the spaces back. `store upgrade` then rewrites rows of an older form, in pages, while the spaces run.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import type { CarriedPage, StoreStatus } from "../../kernel/view/StoreView.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** The format of the store of a space. */
interface Row extends StoreStatus {
  readonly space: string
}

/** A server of an earlier version has no such route. */
const older = (failure: CliFailure): CliFailure =>
  failure.code !== "route/absent" ? failure : new CliFailure({
    exit: exits.failed,
    code: "upgrade/older",
    message: "The server is of an earlier version, which has no upgrade. Deploy this version to every host first"
  })

const ask = <A>(space: string, path: string, method: "GET" | "POST" = "GET") =>
  Client.use((client) => client.ask<A>(`${SpaceArgument.path(space)}/store${path}`, { method })).pipe(Effect.mapError(older))

const chosen = Argument.String("space").pipe(
  Argument.withDescription("A space; all of them unless given"),
  Argument.optional
)

/** The named space, or all of them. */
const spacesOf = Option.match({
  onSome: (space: string) => Effect.succeed<ReadonlyArray<string>>([space]),
  onNone: () => PageList.readAll<string>("/v1/spaces", "spaces")
})

const rowOf = (space: string, path = "", method: "GET" | "POST" = "GET") =>
  Effect.map(ask<StoreStatus>(space, path, method), (status): Row => ({ space, ...status }))

const isBehind = ({ format, newest }: StoreStatus): boolean => format !== null && format < newest

const isLeft = ({ carried, format, newest }: StoreStatus): boolean => format === newest && carried !== format

const columns = (row: Row): ReadonlyArray<string> => [
  row.space,
  row.format === null ? "one form" : `format ${row.format}`,
  isBehind(row)
    ? `an earlier version can take it back; systole upgrade finish raises it to ${row.newest}`
    : isLeft(row) ? "systole store upgrade rewrites its rows of an older form" : "done"
]

const status = Command.make("status", { space: chosen, json: Output.json }, ({ json, space }) =>
  Effect.gen(function*() {
    const rows = yield* Effect.forEach(yield* spacesOf(space), (name) => rowOf(name))
    yield* Output.data(json, rows, Output.table(rows.map(columns)))
  })).pipe(Command.withDescription("Print the format of each store, and the step of the upgrade that is next"))

const yes = Flag.Boolean("yes").pipe(
  Flag.withDescription("Every host has this version. Do not ask; without a terminal, the command needs it"),
  Flag.withDefault(false)
)

const QUESTION = "Does every host have this version? No earlier one opens the spaces afterwards"

/** Asks at the terminal whether hosts of an earlier version are left: a store does not show who may still open it. */
const confirmed = Effect.gen(function*() {
  const { stdinIsTerminal, stdoutIsTerminal } = yield* Stdio.Stdio
  const isAtTerminal = (yield* stdinIsTerminal) && (yield* stdoutIsTerminal)
  if (isAtTerminal) return yield* Prompt.run(Prompt.Confirm({ message: QUESTION, initial: false }))
  return yield* new CliFailure({
    exit: exits.usage,
    code: "upgrade/unconfirmed",
    message: "The upgrade is not finished: no store shows whether a host of an earlier version may still open it, and the command has no " +
      "terminal to ask. See that each host has this version, and that no gradual deployment is under way; then give --yes"
  })
}).pipe(Effect.catchTag("QuitError", () => Effect.succeed(false)))

const finish = Command.make("finish", { space: chosen, yes, json: Output.json }, ({ json, space, yes }) =>
  Effect.gen(function*() {
    const rows = yield* Effect.forEach(yield* spacesOf(space), (name) => rowOf(name))
    const behind = rows.filter(isBehind)
    if (behind.length > 0 && !yes && !(yield* confirmed)) {
      return yield* new CliFailure({ exit: exits.failed, code: "upgrade/unconfirmed", message: "The upgrade is not finished" })
    }
    const raised = yield* Effect.forEach(behind, (row) => rowOf(row.space, "/finish", "POST"))
    yield* Output.data(json, raised, raised.length === 0 ? "nothing to do" : Output.table(raised.map(columns)))
  })).pipe(Command.withDescription(
    "Raise the format of each store to the newest, once every host has this version. No earlier version opens the spaces afterwards"
  ))

/** Rewrites the rows of a space, a page at a time. Returns their number. */
const carried = (space: string) =>
  Effect.gen(function*() {
    let rows = 0
    let after = ""
    for (;;) {
      const page = yield* ask<Omit<CarriedPage, "next"> & { readonly next: number | null }>(space, `/upgrade${after}`, "POST")
      rows += page.rows
      if (page.next === null) return { space, rows }
      after = `?after=${page.next}`
    }
  })

const upgrade = Command.make("upgrade", { space: chosen, json: Output.json }, ({ json, space }) =>
  Effect.gen(function*() {
    const done = yield* Effect.forEach(yield* spacesOf(space), carried)
    yield* Output.data(json, done, done.map(({ rows, space }) => `${space}: ${rows} rows rewritten`))
  })).pipe(Command.withDescription(
    "Rewrite the rows of an older form in pages, while the spaces run. A command that was ended goes on where it is called again"
  ))

/**
 * The commands `upgrade` and `store`.
 */
export const commands = [
  Command.make("upgrade").pipe(
    Command.withDescription("Show the formats of stores, and finish an upgrade to a newer version"),
    Command.withSubcommands([status, finish]),
    Command.provide(Client.layer)
  ),
  Command.make("store").pipe(
    Command.withDescription("Carry the rows of stores over to their format"),
    Command.withSubcommands([upgrade]),
    Command.provide(Client.layer)
  )
] as const
