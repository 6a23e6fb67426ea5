/**
 * The face of durable runs: all that the world sees of this ledger.
 *
 * @module
 */
import * as Face from "../contract/Face.ts"
import { words } from "../contract/Words.ts"
import * as Printable from "../diagnostic/Printable.ts"
import { RunAbsent } from "./RunError.ts"
import * as Schemas from "./Schemas.ts"

const dueOf = ({ due }: Schemas.AwaitedRow): string => [
  ...due?.beat === undefined ? [] : [` until beat ${due.beat}`],
  ...due?.moment === undefined ? [] : [` until ${new Date(due.moment).toISOString()}`]
].join("")

const awaited = (row: Schemas.AwaitedRow): string => `${row.object}${dueOf(row)} since beat ${row.since}`

const standing = ({ cancel, note, state }: Schemas.RunRow): string =>
  [state, ...note === undefined ? [] : [note], ...cancel === undefined ? [] : [`cancelled (${cancel})`]].join(" ")

const lines = ({ awaits = [], begun, steps, ...row }: Schemas.RunDetails): ReadonlyArray<string> => [
  `${row.oid} ${row.enzyme} on ${Printable.event(row.event, row.own)}`,
  `  ${standing(row)}, begun in beat ${begun}; next is segment ${row.segment}`,
  ...steps.flatMap(({ beat, called, calls, now, on, results, segment }) => [
    `  #/segment/${segment} beat ${beat} ${new Date(now).toISOString()}${results.length === 0 ? "" : ` with ${results.join(", ")}`}`,
    ...calls.map((call) => `    ${call}`),
    ...called > calls.length ? [`    and ${called - calls.length} more`] : [],
    `    awaits ${on.join(", ")}`
  ]),
  ...awaits.map((row) => `  awaits ${awaited(row)}`)
]

/**
 * The face of durable runs.
 */
export const face = Face.make("run", {
  records: {
    segment: "runs",
    id: "oid",
    rows: "runs",
    switches: { all: "Also runs that are over, in the order of their ids." },
    row: Schemas.row,
    record: Schemas.details,
    cell: (oid) => `/rt/ops/${oid}`,
    absent: (oid) => new RunAbsent({ oid })
  },
  verbs: {
    cancel: {
      on: "record",
      isControl: true,
      does: words("Cancels a run: its open handles fail with `run/cancelled`, so that its body can undo its effects."),
      switches: { now: "Ends the run at once, as a dead letter: its body makes no further call." },
      done: words((oid, beat) => `cancelled ${oid} in beat ${beat}`)
    },
    retry: {
      on: "record",
      does: words("Sends the dead letter of a run again: it goes on from its log, and repeats the requests that failed last."),
      switches: { anew: "Starts the run over, with other idempotency keys." },
      done: words((oid, beat) => `sent ${oid} again in beat ${beat}`)
    }
  },
  text: words({
    command: "run",
    one: "durable run",
    many: "durable runs that are not over",
    example: "OPS:12.0.0",
    columns: (row) => [
      row.oid, row.enzyme, Printable.event(row.event, row.own), standing(row), `segment ${row.segment}`, `since beat ${row.since}`,
      (row.awaits ?? []).map(awaited).join(", ")
    ],
    lines
  })
})

declare module "../contract/Face.ts" {
  interface Faces {
    readonly runs: typeof face
  }
}
