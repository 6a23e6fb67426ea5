/**
 * `systole run`: lists, prints, cancels and sends durable runs again.
 *
 * @module
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import type { AwaitedRow, RunDetails, RunRow } from "../kernel/view/Space.ts"
import { Client } from "./Client.ts"
import * as PageList from "./PageList.ts"
import * as RecordCommand from "./RecordCommand.ts"

const runs: RecordCommand.Records = {
  segment: "runs",
  id: Argument.String("oid").pipe(Argument.withDescription("The id of the run, which is that of its operation"))
}

const dueOf = ({ due }: AwaitedRow): string => [
  ...due?.beat === undefined ? [] : [` until beat ${due.beat}`],
  ...due?.moment === undefined ? [] : [` until ${new Date(due.moment).toISOString()}`]
].join("")

const awaited = (row: AwaitedRow): string => `${row.object}${dueOf(row)} since beat ${row.since}`

const standing = ({ cancel, note, state }: RunRow): string =>
  [state, ...note === undefined ? [] : [note], ...cancel === undefined ? [] : [`cancelled (${cancel})`]].join(" ")

const ls = PageList.narrowed<RunRow>({
  name: "ls",
  description: "List the durable runs of a space that are not over, and where each stands",
  after: "Where the list before ended, as it said",
  page: PageList.served("runs", "runs"),
  columns: (row) => [
    row.oid, row.enzyme, row.event, standing(row), `segment ${row.segment}`, `since beat ${row.since}`,
    (row.awaits ?? []).map(awaited).join(", ")
  ]
}, {
  name: "all",
  description: "Also runs that are over",
  page: PageList.served("runs", "runs", "&all")
})

const lines = ({ awaits = [], begun, steps, ...row }: RunDetails): ReadonlyArray<string> => [
  `${row.oid} ${row.enzyme} on ${row.event}`,
  `  ${standing(row)}, begun in beat ${begun}; next is segment ${row.segment}`,
  ...steps.flatMap(({ beat, called, calls, now, on, results, segment }) => [
    `  #/segment/${segment} beat ${beat} ${new Date(now).toISOString()}${results.length === 0 ? "" : ` with ${results.join(", ")}`}`,
    ...calls.map((call) => `    ${call}`),
    ...called > calls.length ? [`    and ${called - calls.length} more`] : [],
    `    awaits ${on.join(", ")}`
  ]),
  ...awaits.map((row) => `  awaits ${awaited(row)}`)
]

const show = RecordCommand.show<RunDetails>(runs, { description: "Print a run step by step, and its open handles", lines })

const cancel = RecordCommand.flagged(runs, {
  name: "cancel",
  description: "Cancel a run: its open handles fail with run/cancelled, so that its body can undo its effects",
  done: (oid, beat) => `cancelled ${oid} in beat ${beat}`,
  flag: { name: "now", description: "End the run at once: its body makes no further call" }
})

const retry = RecordCommand.flagged(runs, {
  name: "retry",
  description: "Send the dead letter of a run again: it goes on from its log, and repeats the requests that failed last",
  done: (oid, beat) => `sent ${oid} again in beat ${beat}`,
  flag: { name: "anew", description: "Start the run over, with other idempotency keys" }
})

/**
 * The command `run`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = Command.make("run").pipe(
  Command.withDescription("Look at durable runs, cancel them, and send them again"),
  Command.withSubcommands([ls, show, cancel, retry]),
  Command.provide(Client.layer)
)
