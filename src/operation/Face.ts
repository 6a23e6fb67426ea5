/**
 * The face of operations: all that the world sees of this ledger.
 *
 * @module
 */
import * as Face from "../contract/Face.ts"
import { words } from "../contract/Words.ts"
import * as Printable from "../diagnostic/Printable.ts"
import * as Dossier from "./Dossier.ts"
import { InvalidOperation, OperationAbsent } from "./OperationError.ts"
import * as Schemas from "./Schemas.ts"

type Dossiers = ReturnType<typeof Schemas.dossier>["Encoded"]

const noted = (note: string | undefined): string => note === undefined ? "" : `: ${note}`
const valued = (value: unknown): string => value === undefined ? "" : `: ${JSON.stringify(value)}`

const listed = (title: string, lines: ReadonlyArray<unknown> | undefined): ReadonlyArray<string> =>
  lines === undefined ? [] : [`  ${title}`, ...lines.map((line) => `  ${JSON.stringify(line)}`)]

const lines = ({ close, history, runs, sent, taken, waiting, ...row }: Dossiers): ReadonlyArray<string> => [
  `${row.oid} ${row.verb} → ${row.target} (${row.mode})`,
  `  ${row.state} code ${row.code}${noted(row.note)}`,
  `  payload ${Printable.value(row.payload)}`,
  ...history.map((entry) => `  OPH:${entry.number} beat ${entry.beat} ${entry.state} code ${entry.code}${noted(entry.note)}`),
  ...waiting.map(({ deadline, enzyme, number, want }) =>
    `  OPW:${number} ${enzyme} awaits ${want}${deadline === 0 ? "" : ` until beat ${deadline}`}`),
  ...sent === undefined ? [] : [
    `  ${sent.count} sent to other spaces since`,
    ...sent.requests.map(({ beat, id, signal, space, target }) => `  ${id} beat ${beat} to ${space}: ${signal ?? target}`)
  ],
  ...listed(`${Printable.count(taken?.count ?? 0, "request")} taken back`, taken?.requests),
  ...listed(`${Printable.count(runs?.count ?? 0, "durable run")} taken back`, runs?.runs),
  close === null ? "  open" : `  closed ${close.status} in beat ${close.closed_beat}${valued(close.summary)}`
]

const version = ({ code, note, state, status, watchers }: Dossier.Live): Face.Version => ({
  fields: { state, code, note, status, watchers },
  line: `${state} code ${code}${noted(note)}${status === undefined ? "" : `  closed ${status}`}`
})

/**
 * The face of operations.
 */
export const face = Face.make("op", {
  records: {
    segment: "ops",
    id: "oid",
    rows: "operations",
    row: Schemas.row,
    record: Schemas.dossier,
    cell: (oid) => `${Dossier.FOLDER}/${oid}`,
    absent: (oid) => new OperationAbsent({ oid }),
    invalid: (reason) => new InvalidOperation({ reason })
  },
  verbs: {
    start: {
      on: "list",
      does: words("Starts an operation."),
      body: Schemas.request,
      done: words((oid, beat) => `started ${oid} in beat ${beat}`)
    },
    state: {
      on: "record",
      does: words("Sets the state."),
      body: Schemas.state,
      done: words((oid, beat) => `set the state of ${oid} in beat ${beat}`)
    },
    await: {
      on: "record",
      does: words("Sends `signal` to the operation's cell once it reaches state or status `want`, or `/op/tmo` after `ttl`."),
      body: Schemas.awaiting,
      done: words((oid, beat) => `awaits ${oid} since beat ${beat}`)
    },
    close: {
      on: "record",
      does: words("Closes the operation with `sts:ok`, `sts:fail` or `sts:cnl`. The same status again changes nothing."),
      body: Schemas.close,
      done: words((oid, beat) => `closed ${oid} in beat ${beat}`)
    },
    cancel: {
      on: "record",
      isControl: true,
      does: words("Closes the operation with `sts:cnl`."),
      done: words((oid, beat) => `cancelled ${oid} in beat ${beat}`)
    }
  },
  text: words({
    command: "op",
    one: "operation",
    many: "operations",
    example: "OPS:12.0.0",
    order: (a, b) => Dossier.byCreation(a.oid, b.oid),
    columns: (row) => [row.oid, row.state, row.status ?? "open", row.verb, row.target],
    lines,
    version
  })
})

declare module "../contract/Face.ts" {
  interface Faces {
    readonly ops: typeof face
  }
}
