/**
 * The face of requests: all that the world sees of this ledger, beside its channels and drains.
 *
 * @module
 */
import * as Face from "../contract/Face.ts"
import { words } from "../contract/Words.ts"
import * as Printable from "../diagnostic/Printable.ts"
import { RequestAbsent } from "./ReactorError.ts"
import * as Schemas from "./Schemas.ts"

const deadline = ({ deadline_beat, deadline_ms }: Schemas.RequestRow): string => [
  ...(deadline_beat === undefined ? [] : [`until beat ${deadline_beat}`]),
  ...(deadline_ms === undefined ? [] : [`until ${new Date(deadline_ms).toISOString()}`])
].join(" ")

const lines = (row: object): ReadonlyArray<string> =>
  Object.entries(row).map(([name, value]) => `${name.padEnd(14)} ${typeof value === "object" ? Printable.value(value) : String(value)}`)

/**
 * The face of requests.
 */
export const face = Face.make("io", {
  records: {
    segment: "io",
    id: "rid",
    rows: "requests",
    switches: { open: "Only requests without a result." },
    row: Schemas.row,
    record: Schemas.details,
    cell: (rid: string, { oid }: Schemas.RequestDetails) => `/rt/ops/${oid}/io_req/${rid}`,
    absent: (rid) => new RequestAbsent({ rid })
  },
  verbs: {
    cancel: {
      on: "record",
      isControl: true,
      does: words("Cancels an open request, which then has the result `cnl`."),
      done: words((rid, beat) => `cancelled ${rid} in beat ${beat}`)
    }
  },
  text: words({
    command: "io",
    one: "request",
    many: "requests to the world",
    example: "http:12.0.0",
    columns: (row) => [
      row.rid, row.state, row.opcode, `attempt ${row.attempt}`, `beat ${row.issued_beat}`, deadline(row), row.code ?? "", row.oid ?? ""
    ],
    lines
  })
})
