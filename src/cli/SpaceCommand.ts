/**
 * `systole space`: creates, lists, inspects, holds and locks spaces.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { SpaceStatus, WaitingRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"

/**
 * The argument that names a space.
 *
 * @category references
 * @since 0.1.0
 */
export const name = Argument.String("space").pipe(Argument.withDescription("The name of a space: a-z, 0-9 and -"))

/**
 * The HTTP path of a space.
 *
 * @category getters
 * @since 0.1.0
 */
export const path = (space: string): string => `/v1/spaces/${encodeURIComponent(space)}`

const create = Command.make("create", { space: name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<{ readonly created: boolean }>(path(space), { method: "PUT" })).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, answer.created ? `created ${space}` : `${space} is there already`))
  )).pipe(Command.withDescription("Create a space; one that is there already stays as it is"))

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  Client.use((client) => client.ask<{ readonly spaces: ReadonlyArray<string> }>("/v1/spaces")).pipe(
    Effect.flatMap(({ spaces }) => Output.data(json, spaces, spaces))
  )).pipe(Command.withDescription("List the spaces"))

const state = Command.make("state", { space: name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<SpaceStatus>(`${path(space)}/control`)).pipe(
    Effect.flatMap((found) => Output.data(json, found, lines(found)))
  )).pipe(Command.withDescription("Print whether a space runs, is paused or shut down, what is parked, and what is locked"))

const waiting = Command.make("waiting", {
  space: name,
  limit: Flag.Int("limit").pipe(Flag.withDescription("At most this many"), Flag.withDefault(100)),
  after: Flag.String("after").pipe(Flag.withDescription("Where the list before ended"), Flag.optional),
  json: Output.json
}, ({ after, json, limit, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const from = Option.match(after, { onNone: () => "", onSome: (cursor) => `&after=${encodeURIComponent(cursor)}` })
    const page = yield* client.ask<{ readonly waiting: ReadonlyArray<WaitingRow>; readonly next: number | null }>(
      `${path(space)}/waiting?limit=${limit}${from}`
    )
    yield* Output.data(json, page.waiting, Output.table(page.waiting.map(columns)))
    if (page.next !== null) yield* Output.note(`there are more: --after ${page.next}`)
  })).pipe(Command.withDescription(
    "List what waits in a space, and for what: parked, delayed, retrying, held, a lost conflict, its lane, another space"
  ))

const columns = ({ attempt, due, enzymes = [], id, on, signal, target, why }: WaitingRow): ReadonlyArray<string> => [
  id,
  on === undefined ? why : `${why} (${on})`,
  `${enzymes.join(", ")}${attempt === undefined ? "" : ` attempt ${attempt}`}`,
  [
    due?.beat === undefined ? "" : `from beat ${due.beat}`,
    due?.moment === undefined ? "" : `at ${new Date(due.moment).toISOString()}`
  ].join(" ").trim(),
  [signal, target === undefined ? undefined : `→ ${target}`].filter((part) => part !== undefined).join(" ")
]

const holdCommand = (verb: "hold" | "release", description: string) =>
  Command.make(verb, { space: name, json: Output.json }, ({ json, space }) =>
    Client.use((client) => client.ask<SpaceStatus>(`${path(space)}/control/${verb}`, { method: "POST" })).pipe(
      Effect.flatMap((found) => Output.data(json, found, lines(found)))
    )).pipe(Command.withDescription(description))

const hold =
  holdCommand("hold", "Let no beat of a space run by itself until it is released or the server ends; what comes is taken, and waits")
const release = holdCommand("release", "Let the beats of a held space run again")

const lines = ({ control, held, locks, parked, state, view_hzn }: SpaceStatus): ReadonlyArray<string> => [
  control === null ? state : `${state}, ${control.verb} under way (${control.oid})`,
  ...held ? ["held: no beat runs by itself until systole space release"] : [],
  ...parked === 0 ? [] : [`${parked} signals wait`],
  ...view_hzn === null ? [] : [`rolled back to beat ${view_hzn}`],
  ...locks.map(({ by, cell }) => `${cell} is locked by ${by}`)
]

const cell = Argument.String("cell").pipe(Argument.withDescription("The cell below which nothing is written, such as /data/orders"))

const lockCommand = (verb: "lock" | "unlock", method: "PUT" | "DELETE", description: string) =>
  Command.make(verb, { space: name, cell, json: Output.json }, ({ cell, json, space }) =>
    Client.use((client) => client.ask<{ readonly beat: number }>(
      `${path(space)}/locks${cell.split("/").map(encodeURIComponent).join("/")}`,
      { method }
    )).pipe(
      Effect.flatMap((answer) => Output.data(json, answer, `${verb}ed ${cell} in beat ${answer.beat}`))
    )).pipe(Command.withDescription(description))

const lock = lockCommand("lock", "PUT", "Lock a cell: runs that write there or below wait, and writes from outside are refused")
const unlock = lockCommand("unlock", "DELETE", "Unlock a cell")

/**
 * The command `space`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("space").pipe(
  Command.withDescription("Create and list spaces, look how one stands, and lock its cells"),
  Command.withSubcommands([create, ls, state, waiting, hold, release, lock, unlock]),
  Command.provide(Client.layer)
)
