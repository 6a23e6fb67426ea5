/**
 * `systole beat`: the beats of a space and their ledgers.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/** A beat in the list. */
interface Row {
  readonly beat: number
  readonly clock: number
  readonly hash: string
}

const ls = Command.make("ls", {
  space: SpaceArgument.name,
  limit: Flag.Int("limit").pipe(Flag.withDescription("At most this many, the newest first"), Flag.withDefault(20)),
  json: Output.json
}, ({ json, limit, space }) =>
  Client.use((client) => client.ask<{ readonly beats: ReadonlyArray<Row> }>(`${SpaceArgument.path(space)}/beats?limit=${limit}`)).pipe(
    Effect.flatMap(({ beats }) =>
      Output.data(json, beats, Output.table(
        beats.map(({ beat, clock, hash }) => [String(beat), new Date(clock).toISOString(), hash.slice(0, 12)])
      ))
    )
  )).pipe(Command.withDescription("List the newest beats"))

const show = Command.make("show", {
  space: SpaceArgument.name,
  beat: Argument.Int("beat").pipe(Argument.withDescription("The number of a beat")),
  json: Output.json
}, ({ beat, json, space }) =>
  Client.use((client) => client.ask<Readonly<Record<string, unknown>>>(`${SpaceArgument.path(space)}/beats/${beat}`)).pipe(
    Effect.flatMap((ledgers) => Output.data(json, ledgers, Object.entries(ledgers).flatMap(([name, ledger]) => describe(name, ledger))))
  )).pipe(Command.withDescription("Print the inbox, the agenda, the stage and the metadata of a beat"))

const describe = (name: string, ledger: unknown): ReadonlyArray<string> => {
  const lines = Array.isArray(ledger) ? ledger : [ledger]
  return [`${name}:`, ...lines.map((line) => `  ${typeof line === "string" ? line : JSON.stringify(line)}`)]
}

/**
 * The command `beat`.
 */
export const command = Command.make("beat").pipe(
  Command.withDescription("Look at beats"),
  Command.withSubcommands([ls, show]),
  Command.provide(Client.layer)
)
