/**
 * `systole io`: lists, prints and cancels requests to the world, and lists the channels.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type { ChannelRow, Drain, DrainedCompletion, RequestRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"
import * as PageList from "./PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"
import * as SpaceArgument from "./SpaceArgument.ts"

const requests: RecordCommand.Records = {
  segment: "io",
  id: Argument.String("rid").pipe(Argument.withDescription("The id of the request, such as http:12.0.0"))
}

const deadline = ({ deadline_beat, deadline_ms }: RequestRow): string => [
  ...(deadline_beat === undefined ? [] : [`until beat ${deadline_beat}`]),
  ...(deadline_ms === undefined ? [] : [`until ${new Date(deadline_ms).toISOString()}`])
].join(" ")

const ls = PageList.narrowed<RequestRow>({
  name: "ls",
  description: "List the requests of a space to the world",
  after: "Where the list before ended, as an id",
  page: PageList.served("io", "requests"),
  columns: (row) => [
    row.rid, row.state, row.opcode, `attempt ${row.attempt}`, `beat ${row.issued_beat}`, deadline(row), row.code ?? "", row.oid ?? ""
  ]
}, {
  name: "open",
  description: "Only requests without a result",
  page: PageList.served("io", "requests", "&open")
})

const show = RecordCommand.show<Readonly<Record<string, unknown>>>(requests, {
  description: "Print a request with all its fields",
  lines: (row) =>
    Object.entries(row).map(([name, value]) => `${name.padEnd(14)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
})

const cancel = RecordCommand.act(requests, {
  name: "cancel",
  description: "Cancel an open request, which then has the result cnl",
  done: (rid, beat) => `cancelled ${rid} in beat ${beat}`
})

const channels = Command.make("channels", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
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

/**
 * The command `io`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("io").pipe(
  Command.withDescription("Look at requests to the world, cancel them, and look at the channels"),
  Command.withSubcommands([ls, show, cancel, channels]),
  Command.provide(Client.layer)
)

/** A captured completion with its beat. */
interface DrainedRow extends DrainedCompletion {
  readonly beat: number
}

const rowsOf = (drains: ReadonlyArray<Drain>): ReadonlyArray<DrainedRow> =>
  drains.flatMap(({ beat, completions }) => completions.map((completion) => ({ beat, ...completion })))

/**
 * The command `debug io`, which prints the completions that beats captured.
 *
 * @category constructors
 * @since 0.1.0
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
