/**
 * The face of alarms: all that the world sees of them.
 *
 * @module
 */
import * as Face from "../../src/contract/Face.ts"
import { words } from "../../src/contract/Words.ts"
import { AlarmAbsent, AlarmRefused } from "./AlarmError.ts"
import * as Schemas from "./Schemas.ts"

/** The face of alarms. */
export const face = Face.make("toy", {
  records: {
    segment: "toys",
    id: "key",
    rows: "alarms",
    row: Schemas.row,
    record: Schemas.row,
    cell: (key) => `/net/toy/${key}`,
    absent: (key) => new AlarmAbsent({ key }),
    invalid: (reason) => new AlarmRefused({ reason })
  },
  verbs: {
    arm: {
      on: "list",
      does: words("Arms an alarm."),
      body: Schemas.request,
      done: words((key, beat) => `armed ${key} in beat ${beat}`)
    },
    cancel: { on: "record", does: words("Ends an alarm before it rings."), done: words((key, beat) => `cancelled ${key} in beat ${beat}`) }
  },
  text: words({
    command: "toy",
    one: "alarm",
    many: "alarms",
    example: "tea",
    columns: ({ key, state }) => [key, state],
    lines: ({ asked, key, since, state }) => [`${key} ${state} since beat ${since}, asked ${asked} times`],
    version: ({ state }: { readonly state: string }): Face.Version => ({ fields: { state }, line: state })
  })
})

declare module "../../src/contract/Face.ts" {
  interface Faces {
    readonly toys: typeof face
  }
}
