/**
 * `systole op`: lists, prints, follows and cancels operations.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type { OperationDossier, OperationRow } from "../kernel/view/Space.ts"
import * as Dossier from "../operation/Dossier.ts"
import { Client } from "./Client.ts"
import * as PageList from "./PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"
import * as SpaceArgument from "./SpaceArgument.ts"

/** The maximum number of operations of a page. */
const MAX_PAGE = 1000

/** A dossier as the ingress returns it, with its values as JSON. */
type DossierJson = Omit<OperationDossier, "close" | "payload"> & {
  readonly payload?: unknown
  readonly close: { readonly status: string; readonly closed_beat: number; readonly summary?: unknown } | null
}

/** All operations of a space, in the order of their creation. The server returns pages in the order of their ids as texts. */
const all = (space: string) =>
  Effect.map(
    PageList.noted<OperationRow>(`${SpaceArgument.path(space)}/ops?limit=${MAX_PAGE}`, "operations"),
    (found) => [...found].sort((a, b) => Dossier.byCreation(a.oid, b.oid))
  )

const list = PageList.command<OperationRow>({
  name: "list",
  description: "List the operations of a space",
  after: "Where the list before ended, as an id",
  page: ({ after, limit, space }) =>
    Effect.map(all(space), (created) => {
      const rest = after === undefined ? created : created.filter(({ oid }) => Dossier.byCreation(oid, after) > 0)
      const rows = rest.slice(0, limit)
      return { rows, next: rest.length > limit ? rows.at(-1)?.oid : undefined }
    }),
  columns: (row) => [row.oid, row.state, row.status ?? "open", row.verb, row.target]
})

const operations: RecordCommand.Records = {
  segment: "ops",
  id: Argument.String("oid").pipe(Argument.withDescription("The id of the operation, such as OPS:12.0.0"))
}

const lines = ({ close, history, runs, sent, taken, waiting, ...row }: DossierJson): ReadonlyArray<string> => [
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
  ...taken === undefined ? [] : [
    `  ${taken.count} requests taken back`,
    ...taken.requests.map((request) => `  ${JSON.stringify(request)}`)
  ],
  ...runs === undefined ? [] : [
    `  ${runs.count} durable runs taken back`,
    ...runs.runs.map((run) => `  ${JSON.stringify(run)}`)
  ],
  close === null
    ? "  open"
    : `  closed ${close.status} in beat ${close.closed_beat}${close.summary === undefined ? "" : `: ${JSON.stringify(close.summary)}`}`
]

const show = RecordCommand.show(operations, { description: "Print an operation's dossier", lines })

const watch = RecordCommand.watch<OperationRow>(operations, {
  description: "Print how an operation stands now, and again after each beat that moves it",
  times: "Stop after this many states",
  version: ({ code, note, state, status, watchers }) => ({
    fields: { state, code, note, status, watchers },
    line: `${state} code ${code}${note === undefined ? "" : `: ${note}`}${status === undefined ? "" : `  closed ${status}`}`
  })
})

const cancel = RecordCommand.act(operations, {
  name: "cancel",
  description: "Close an operation with sts:cnl",
  done: (oid, beat) => `cancelled ${oid} in beat ${beat}`
})

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
