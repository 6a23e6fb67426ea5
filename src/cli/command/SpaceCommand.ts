/**
 * `systole space`: creates, lists, deletes, inspects, holds and locks spaces, and resets their clocks.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Stdio from "effect/Stdio"
import * as Printable from "../../diagnostic/Printable.ts"
import type { DetachedWork } from "../../kernel/view/DetachedList.ts"
import type { ClockStatus, SpaceStatus, WaitingRow } from "../../kernel/view/Space.ts"
import { CliFailure, exits } from "../CliFailure.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

const create = Command.make("create", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Client.use((client) => client.ask<{ readonly created: boolean }>(SpaceArgument.path(space), { method: "PUT" })).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, answer.created ? `created ${space}` : `${space} is there already`))
  )).pipe(Command.withDescription("Create a space; one that is there already stays as it is"))

const ls = Command.make("ls", { json: Output.json }, ({ json }) =>
  Effect.flatMap(PageList.readWithNote<string>("/v1/spaces", "spaces"), (spaces) => Output.data(json, spaces, spaces))
).pipe(Command.withDescription("List the spaces"))

const yes = Flag.Boolean("yes").pipe(
  Flag.withDescription("Do not ask. Without a terminal, the command needs it"),
  Flag.withDefault(false)
)

const notAsked = (space: string): CliFailure =>
  new CliFailure({
    exit: exits.usage,
    code: "space/unconfirmed",
    message: `Space "${space}" is not deleted: nobody can be asked here, because the command has no terminal. Give --yes to delete it ` +
      "with all its data"
  })

/** Asks at the terminal. Fails without one. */
const confirmed = (otherwise: CliFailure, message: string) =>
  Effect.gen(function*() {
    const { stdinIsTerminal, stdoutIsTerminal } = yield* Stdio.Stdio
    if (!(yield* stdinIsTerminal) || !(yield* stdoutIsTerminal)) return yield* otherwise
    return yield* Prompt.run(Prompt.Confirm({ message, initial: false }))
  }).pipe(Effect.catchTag("QuitError", () => Effect.succeed(false)))

const deleted = (space: string, json: boolean) =>
  Client.use((client) => client.ask(SpaceArgument.path(space), { method: "DELETE" })).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, `deleted ${space}`))
  )

const remove = Command.make("delete", { space: SpaceArgument.name, yes, json: Output.json }, ({ json, space, yes }) =>
  Effect.gen(function*() {
    const asked = confirmed(notAsked(space), `Delete space "${space}" with all its data, for good?`)
    if (yes || (yield* asked)) return yield* deleted(space, json)
    return yield* new CliFailure({ exit: exits.failed, code: "space/unconfirmed", message: `Space "${space}" is not deleted` })
  })).pipe(Command.withDescription("Delete a space with all its data, at once and for good"))

const state = Command.make("state", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) =>
  Effect.zipWith(
    Client.use((client) => client.ask<SpaceStatus>(`${SpaceArgument.path(space)}/control?limit=0`)),
    PageList.readAll<SpaceStatus["locks"][number]>(`${SpaceArgument.path(space)}/control`, "locks"),
    (found, locks) => ({ ...found, locks })
  ).pipe(
    Effect.flatMap((found) => Output.data(json, found, lines(found)))
  )).pipe(Command.withDescription("Print whether a space runs, is paused or shut down, its parked signals, and its locks"))

const columns = ({ attempt, due, enzymes = [], id, on, own, owner, signal, target, why }: WaitingRow): ReadonlyArray<string> => [
  Printable.event(id, own),
  on === undefined ? why : `${why} (${on}${owner === undefined ? "" : `, locked by ${owner}`})`,
  `${enzymes.join(", ")}${attempt === undefined ? "" : ` attempt ${attempt}`}`,
  [
    due?.beat === undefined ? "" : `from beat ${due.beat}`,
    due?.moment === undefined ? "" : `at ${new Date(due.moment).toISOString()}`
  ].join(" ").trim(),
  [signal, target === undefined ? undefined : `→ ${target}`].filter((part) => part !== undefined).join(" ")
]

const waiting = PageList.command<WaitingRow>({
  name: "waiting",
  description: "List the waiting signals of a space by reason: parked, delayed, retrying, awaiting a result, held, a lost conflict, " +
    "its lane, another space",
  after: "Where the list before ended",
  limit: 100,
  page: PageList.serverPage("waiting", "waiting"),
  columns
})

const steered = (verb: "hold" | "release", space: string, json: boolean) =>
  Client.use((client) => client.ask<SpaceStatus>(`${SpaceArgument.path(space)}/control/${verb}`, { method: "POST" })).pipe(
    Effect.flatMap((found) => Output.data(json, found, lines(found)))
  )

const hold = Command.make("hold", { space: SpaceArgument.name, json: Output.json }, ({ json, space }) => steered("hold", space, json)).pipe(
  Command.withDescription("Let no beat of a space run by itself until it is released or the server ends; signals are accepted, and wait")
)

const notPruned = (space: string): CliFailure =>
  new CliFailure({
    exit: exits.usage,
    code: "space/unconfirmed",
    message: `The history of space "${space}" stays: nobody can be asked here, because the command has no terminal. Give --yes to remove it`
  })

const prune = Command.make("prune", {
  space: SpaceArgument.name,
  before: Flag.Int("before").pipe(Flag.withDescription("The oldest beat that stays")),
  yes,
  json: Output.json
}, ({ before, json, space, yes }) =>
  Effect.gen(function*() {
    const asked = confirmed(notPruned(space), `Remove the history of space "${space}" before beat ${before}, for good?`)
    if (!yes && !(yield* asked)) {
      return yield* new CliFailure({ exit: exits.failed, code: "space/unconfirmed", message: `The history of space "${space}" stays` })
    }
    const { ask } = yield* Client
    const path = `${SpaceArgument.path(space)}/store/journal?before=${before}`
    const { anchor } = yield* ask<{ readonly anchor: number }>(path, { method: "DELETE" })
    yield* Output.data(json, { anchor }, anchor < 0 ? "no beat was removed" : `the history of ${space} begins after beat ${anchor}`)
  })).pipe(
    Command.withDescription("Remove the beats before one from the journal for good. The state stays, and no replay goes back beyond it")
  )

const notReleased = (space: string): CliFailure =>
  new CliFailure({
    exit: exits.usage,
    code: "space/unconfirmed",
    message: `Space "${space}" stays detached: nobody can be asked here, because the command has no terminal. Give --yes to release it`
  })

/** The kinds of work that a detached space keeps back, as a list names them. */
const KINDS = {
  requests: "requests",
  outbox: "signals to other spaces",
  timers: "delayed signals and schedules",
  original: "signals of the original, which are never sent"
} as const

/** The lines of one kind of work. */
const leaving = (name: string, { count, first, oldest }: DetachedWork["requests"]): ReadonlyArray<string> => [
  `${count} ${name}${oldest === undefined ? "" : `, the oldest of ${new Date(oldest).toISOString()}`}`,
  ...Output.table(first.map(({ date, id, name, to = "" }) => ["", id, name, to, date === undefined ? "" : new Date(date).toISOString()])),
  ...count > first.length ? [`  and ${count - first.length} more`] : []
]

/** Lists the work that waits in a detached space, for the person who releases it. */
export const listed = Effect.fnUntraced(function*(space: string) {
  const { ask } = yield* Client
  const work = yield* ask<DetachedWork>(`${SpaceArgument.path(space)}/detached`)
  const lines = Object.entries(KINDS).flatMap(([kind, name]) => {
    const found = work[kind as keyof typeof KINDS]
    return found.count === 0 ? [] : leaving(name, found)
  })
  yield* Output.note(lines.length === 0 ? "nothing waits" : ["what waits:", ...lines].join("\n"))
})

/** Releases a detached space. Work of the dropped kinds ends. */
export const released = (space: string, drop = "") =>
  Client.use((client) => client.ask<{ readonly beat: number }>(
    `${SpaceArgument.path(space)}/detached${drop === "" ? "" : `?drop=${encodeURIComponent(drop)}`}`,
    { method: "DELETE" }
  ))

/** Releases a detached space, after a list of what waits in it. */
const releaseDetached = Effect.fnUntraced(function*(space: string, { drop, json, yes }: {
  readonly drop: string
  readonly json: boolean
  readonly yes: boolean
}) {
  if (!yes) {
    yield* listed(space)
    const rest = drop === "" ? "" : `, and drop its ${drop.replaceAll(",", ", ")}`
    if (!(yield* confirmed(notReleased(space), `Let requests, deliveries, timers and signals of space "${space}" out${rest}?`))) {
      return yield* new CliFailure({ exit: exits.failed, code: "space/unconfirmed", message: `Space "${space}" stays detached` })
    }
  }
  const answer = yield* released(space, drop)
  const without = drop === "" ? "" : `, without its ${drop.replaceAll(",", ", ")}`
  yield* Output.data(json, answer, `released ${space} in beat ${answer.beat}${without}`)
})

const drop = Flag.String("drop").pipe(
  Flag.withDescription("End work of a detached space in place of letting it out: some of requests, outbox and timers, with commas between"),
  Flag.withDefault("")
)

const release = Command.make("release", { space: SpaceArgument.name, drop, yes, json: Output.json }, ({ drop, json, space, yes }) =>
  Effect.gen(function*() {
    const { ask } = yield* Client
    const { detached } = yield* ask<SpaceStatus>(`${SpaceArgument.path(space)}/control?limit=0`)
    if (detached === undefined && drop !== "") yield* released(space, drop)
    yield* detached === undefined ? steered("release", space, json) : releaseDetached(space, { drop, json, yes })
  })).pipe(
    Command.withDescription("Let the beats of a held space run again, or what waits in a detached space out, after a list of it")
  )

const lines = ({ control, detached, held, locks, parked, state, view_hzn }: SpaceStatus): ReadonlyArray<string> => [
  control === null ? state : `${state}, ${control.verb} under way (${control.oid})`,
  ...held ? ["held: no beat runs by itself until systole space release"] : [],
  ...detached === undefined ? [] : [`detached: a ${detached.why} of ${detached.from} at beat ${detached.beat}`],
  ...parked === 0 ? [] : [Printable.count(parked, "signal waits", "signals wait")],
  ...view_hzn === null ? [] : [`rolled back to beat ${view_hzn}`],
  ...locks.map(({ by, cell }) => `${cell} is locked by ${by}`)
]

const reset = Flag.Boolean("reset").pipe(
  Flag.withDescription("Take the offset off: dates are those of the host again, and waits from before end after the same time"),
  Flag.withDefault(false)
)

const clock = Command.make("clock", { space: SpaceArgument.name, reset, json: Output.json }, ({ json, reset, space }) =>
  reset ? resetClock(space, json) : showClock(space, json)).pipe(
    Command.withDescription("Print the clock of a space and its offset from the clock of the host, or reset it")
  )

const resetClock = (space: string, json: boolean) =>
  Client.use((client) =>
    client.ask<{ readonly beat: number; readonly offset: number }>(`${SpaceArgument.path(space)}/clock/reset`, { method: "POST" })
  ).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, `took ${answer.offset} ms off the clock of ${space} in beat ${answer.beat}`))
  )

const showClock = (space: string, json: boolean) =>
  Client.use((client) => client.ask<ClockStatus>(`${SpaceArgument.path(space)}/clock`)).pipe(
    Effect.flatMap((found) => Output.data(json, found, clockLines(found)))
  )

const clockLines = ({ date, host, keeps, offset, shifts }: ClockStatus): ReadonlyArray<string> => [
  new Date(date).toISOString(),
  offset === 0 ? "as its host" : `${offset} ms ahead of its host, at ${new Date(host).toISOString()}`,
  ...keeps === null ? [] : [`the last jump or sleep of over a day makes nothing older until ${new Date(keeps).toISOString()}`],
  ...shifts.map(({ beat, by }) => `reset by ${by} ms in beat ${beat}`)
]

const cell = Argument.String("cell").pipe(Argument.withDescription("The cell, with all cells below, such as /data/orders"))

const lockCommand = (verb: "lock" | "unlock", method: "PUT" | "DELETE", description: string) =>
  Command.make(verb, { space: SpaceArgument.name, cell, json: Output.json }, ({ cell, json, space }) =>
    Client.use((client) => client.ask<{ readonly beat: number }>(
      `${SpaceArgument.path(space)}/locks${cell.split("/").map(encodeURIComponent).join("/")}`,
      { method }
    )).pipe(
      Effect.flatMap((answer) => Output.data(json, answer, `${verb}ed ${cell} in beat ${answer.beat}`))
    )).pipe(Command.withDescription(description))

const lock = lockCommand("lock", "PUT", "Lock a cell: runs that write there or below wait, and writes from outside are refused")
const unlock = lockCommand("unlock", "DELETE", "Unlock a cell")

/**
 * The command `space`.
 */
export const command = Command.make("space").pipe(
  Command.withDescription("Create, list and delete spaces, look how one stands, reset its clock, and lock its cells"),
  Command.withSubcommands([create, ls, remove, state, waiting, hold, release, clock, lock, unlock, prune]),
  Command.provide(Client.layer)
)
