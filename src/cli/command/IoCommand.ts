/**
 * `systole io channels`, and the list of drains. The other commands of requests are made from their face.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import type { ChannelRow, Drain, DrainedCompletion } from "../../kernel/view/Space.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

/**
 * The command `io channels`.
 */
export const channels = Command.make("channels", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<{ readonly channels: ReadonlyArray<ChannelRow> }>(`${SpaceArgument.path(space)}/io/channels`)).pipe(
    Effect.flatMap(({ channels }) => Output.data(json, channels, Output.table(channels.map(columns))))
  )).pipe(Command.withDescription("List the channels, their opcodes (* repeatable), and their jobs for all spaces"))

const columns = (
  { active, caps, channel, clearance, hosts, hung, opcodes, provider, shim, state, waiting }: ChannelRow
): ReadonlyArray<string> => [
  channel,
  provider,
  Object.entries(opcodes).map(([opcode, isRepeatable]) => isRepeatable ? `${opcode}*` : opcode).join(","),
  `waiting ${waiting}`,
  `active ${active}`,
  shim ? "shim" : "native",
  hung === 0 ? state : `${state}, ${hung} hung`,
  hosts.join(","),
  caps.join(","),
  clearance.length === 0 ? "" : `clearance ${clearance.join(",")}`
]

interface DrainedRow extends DrainedCompletion {
  readonly beat: number
}

const rowsOf = (drains: ReadonlyArray<Drain>): ReadonlyArray<DrainedRow> =>
  drains.flatMap(({ beat, completions }) => completions.map((completion) => ({ beat, ...completion })))

/**
 * The command `debug io`, which prints the completions that beats captured.
 */
export const drains = PageList.command<DrainedRow>({
  name: "io",
  description: "List the completions that the newest beats captured. The limit is on beats",
  after: "Where the list before ended, as a beat",
  page: ({ after, limit, space }) => {
    const from = after === undefined ? "" : `&before=${encodeURIComponent(after)}`
    return Client.use((client) => client.ask<{ readonly drains: ReadonlyArray<Drain>; readonly next: number | null }>(
      `${SpaceArgument.path(space)}/io/drains?limit=${limit}${from}`
    )).pipe(Effect.map(({ drains, next }) => ({ rows: rowsOf(drains), next })))
  },
  columns: ({ attempt, beat, channel, errno, outcome, rid }) =>
    [`beat ${beat}`, channel, rid, `attempt ${attempt}`, outcome, errno === undefined ? "" : `errno ${errno}`]
}).pipe(Command.provide(Client.layer))
