/**
 * `systole op`: lists, prints, follows and cancels operations.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { OperationDossier, OperationRow } from "../kernel/view/Space.ts"
import * as Dossier from "../operation/Dossier.ts"
import { Client } from "./Client.ts"
import * as Output from "./Output.ts"
import * as SpaceCommand from "./SpaceCommand.ts"

/** A page of operations as the ingress returns it. */
interface Page {
  readonly operations: ReadonlyArray<OperationRow>
  readonly next: string | null
}

/** The maximum number of operations of a page. */
const MAX_PAGE = 1000

/** A dossier as the ingress returns it, with its values as JSON. */
type DossierJson = Omit<OperationDossier, "close" | "payload"> & {
  readonly payload?: unknown
  readonly close: { readonly status: string; readonly closed_beat: number; readonly summary?: unknown } | null
}

/** All operations of a space, in the order of their creation. The server returns pages in the order of their ids as texts. */
const rows = Effect.fnUntraced(function*(client: Client["Service"], space: string) {
  const found: Array<OperationRow> = []
  for (let after: string | null = ""; after !== null;) {
    const from: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`
    const page: Page = yield* client.ask<Page>(`${SpaceCommand.path(space)}/ops?limit=${MAX_PAGE}${from}`)
    found.push(...page.operations)
    after = page.next
  }
  return found.sort((a, b) => Dossier.byCreation(a.oid, b.oid))
})

const list = Command.make("list", {
  space: SpaceCommand.name,
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("At most this many"),
    Flag.filter((limit) => limit >= 0, (limit) => `${limit} is no count; use a whole number from 0`),
    Flag.withDefault(20)
  ),
  after: Flag.String("after").pipe(Flag.withDescription("Where the list before ended, as an id"), Flag.optional),
  json: Output.json
}, ({ after, json, limit, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const all = yield* rows(client, space)
    const rest = Option.match(after, { onNone: () => all, onSome: (oid) => all.filter((row) => Dossier.byCreation(row.oid, oid) > 0) })
    const operations = rest.slice(0, limit)
    const next = rest.length > limit ? operations.at(-1)?.oid : undefined
    yield* Output.data(json, operations, Output.table(
      operations.map((row) => [row.oid, row.state, row.status ?? "open", row.verb, row.target])
    ))
    if (next !== undefined) yield* Output.note(`there are more: --after ${next}`)
  })).pipe(Command.withDescription("List the operations of a space"))

const oid = Argument.String("oid").pipe(Argument.withDescription("The id of the operation, such as OPS:12.0.0"))

const path = (space: string, oid: string): string => `${SpaceCommand.path(space)}/ops/${encodeURIComponent(oid)}`

const show = Command.make("show", { space: SpaceCommand.name, oid, json: Output.json }, ({ json, oid, space }) =>
  Client.use((client) => client.ask<DossierJson>(path(space, oid))).pipe(
    Effect.flatMap((dossier) => Output.data(json, dossier, lines(dossier)))
  )).pipe(Command.withDescription("Print an operation's dossier"))

const lines = ({ close, history, sent, waiting, ...row }: DossierJson): ReadonlyArray<string> => [
  `${row.oid} ${row.verb} → ${row.target} (${row.mode})`,
  `  ${row.state} code ${row.code}${row.note === undefined ? "" : `: ${row.note}`}`,
  `  payload ${row.payload === undefined ? "none" : JSON.stringify(row.payload)}`,
  ...history.map(
    (entry) =>
      `  OPH:${entry.number} beat ${entry.beat} ${entry.state} code ${entry.code}${entry.note === undefined ? "" : `: ${entry.note}`}`
  ),
  ...waiting.map(
    (watcher) =>
      `  OPW:${watcher.number} ${watcher.enzyme} awaits ${watcher.want}${watcher.deadline === 0 ? "" : ` until beat ${watcher.deadline}`}`
  ),
  ...sent === undefined ? [] : [
    `  ${sent.count} sent to other spaces since`,
    ...sent.requests.map((request) => `  ${request.id} beat ${request.beat} to ${request.space}: ${request.signal ?? request.target}`)
  ],
  close === null
    ? "  open"
    : `  closed ${close.status} in beat ${close.closed_beat}${close.summary === undefined ? "" : `: ${JSON.stringify(close.summary)}`}`
]

const watch = Command.make("watch", {
  space: SpaceCommand.name,
  oid,
  times: Flag.Int("times").pipe(Flag.withDescription("Stop after this many states"), Flag.optional),
  json: Output.json
}, ({ json, oid, space, times }) =>
  Effect.gen(function*() {
    const events = (yield* Client).events(path(space, oid))
    const some = Option.isSome(times) ? Stream.take(events, times.value) : events
    yield* Stream.runForEach(some, ({ data, id }) => {
      const { code, note, state, status, watchers } = JSON.parse(data) as OperationRow
      return Output.data(
        json,
        { beat: id, state, code, note, status, watchers },
        `${id}  ${state} code ${code}${note === undefined ? "" : `: ${note}`}${status === undefined ? "" : `  closed ${status}`}`
      )
    })
  })).pipe(Command.withDescription("Print how an operation stands now, and again after each beat that moves it"))

const cancel = Command.make("cancel", { space: SpaceCommand.name, oid, json: Output.json }, ({ json, oid, space }) =>
  Client.use((client) => client.ask<{ readonly beat: number }>(`${path(space, oid)}/cancel`, { method: "POST" })).pipe(
    Effect.flatMap((answer) => Output.data(json, answer, `cancelled ${oid} in beat ${answer.beat}`))
  )).pipe(Command.withDescription("Close an operation with sts:cnl"))

/**
 * The command `op`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("op").pipe(
  Command.withDescription("Look at operations, follow and cancel them"),
  Command.withSubcommands([list, show, watch, cancel]),
  Command.provide(Client.layer)
)
