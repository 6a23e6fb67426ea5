/**
 * The face of rendezvous: all that the world sees of this ledger.
 *
 * @module
 */
import * as Face from "../contract/Face.ts"
import { words } from "../contract/Words.ts"
import * as Printable from "../diagnostic/Printable.ts"
import * as Entries from "./Entry.ts"
import { InvalidRendezvous, RendezvousAbsent } from "./RendezvousError.ts"
import * as Schemas from "./Schemas.ts"

const lines = (row: object): ReadonlyArray<string> =>
  Object.entries(row).map(([name, value]) => `${name.padEnd(12)} ${typeof value === "object" ? Printable.value(value) : value}`)

/** A stored entry, whose numbers are texts. */
interface Stored {
  readonly state: string
  readonly due: string
  readonly grace_used: string
  readonly telemetry: unknown
}

const version = ({ due, grace_used, state, telemetry }: Stored): Face.Version => ({
  fields: { state, due, grace_used, telemetry },
  line: `${state} due ${due} graces ${grace_used} ${Printable.value(telemetry)}`
})

/**
 * The face of rendezvous.
 */
export const face = Face.make("rv", {
  records: {
    segment: "rv",
    id: "key",
    rows: "rendezvous",
    row: Schemas.entry,
    record: Schemas.entry,
    cell: (key) => `${Entries.FOLDER}/${key}`,
    absent: (key) => new RendezvousAbsent({ key }),
    invalid: (reason) => new InvalidRendezvous({ reason })
  },
  verbs: {
    spawn: {
      on: "list",
      does: words("Spawns a rendezvous. Its `token` lets a worker report on it alone; it is shown once."),
      body: Schemas.spec,
      reply: Schemas.minted,
      isSecret: true,
      done: words((key, beat, { token }) => `spawned ${key} in beat ${beat}, with the token ${token}`)
    },
    token: {
      on: "record",
      does: words("Claims it: mints a new token and revokes the old one."),
      reply: Schemas.minted,
      done: words((key, beat, { token }) => `claimed ${key} in beat ${beat}, with the token ${token}`)
    },
    report: {
      on: "record",
      isControl: true,
      does: words("Reports the result. A worker shows the token of this rendezvous, as `Authorization: Rendezvous <token>`."),
      body: Schemas.report,
      worker: "SYSTOLE_RV_TOKEN",
      done: words((key, beat) => `reported ${key} in beat ${beat}`)
    },
    kill: {
      on: "record",
      isControl: true,
      does: words("Ends it, at its next scan or `wait` scans later."),
      body: Schemas.kill,
      done: words((key, beat) => `asked ${key} to end in beat ${beat}`)
    },
    release: {
      on: "record",
      isControl: true,
      does: words("Releases it from quarantine: it has its time for a report and its graces again."),
      done: words((key, beat) => `released ${key} in beat ${beat}`)
    },
    resched: {
      on: "record",
      does: words("Moves its due beat by `delta`."),
      body: Schemas.resched,
      done: words((key, beat) => `moved ${key} in beat ${beat}`)
    }
  },
  text: words({
    command: "rv",
    one: "rendezvous",
    many: "rendezvous",
    example: "job17",
    columns: ({ deadline, due, inst_id = "", key, prof, state }) =>
      [key, state, prof, `due ${due}`, deadline === 0 ? "" : `until ${deadline}`, inst_id],
    lines,
    version
  })
})

declare module "../contract/Face.ts" {
  interface Faces {
    readonly rv: typeof face
  }
}
