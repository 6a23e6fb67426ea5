/**
 * The face of flows: all that the world sees of their instances.
 *
 * @module
 */
import * as Face from "../contract/Face.ts"
import { words } from "../contract/Words.ts"
import * as Printable from "../diagnostic/Printable.ts"
import { InstanceAbsent, InvalidFlowRequest } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import * as Schemas from "./Schemas.ts"

const noted = (note: string | undefined): string => note === undefined ? "" : `: ${note}`

const goesOn = (state: Instance.State): boolean => state === "ready" || state === "waiting" || state === "paused"

const lines = ({ flow, history, input, inst, jobs, note, pc, started, state, steps_used }: ReturnType<typeof Schemas.instance>["Type"]) => [
  `${inst} ${flow} ${state}${goesOn(state) ? ` at ${pc}` : ""}${noted(note)}`,
  `  started in beat ${started}, ${Printable.count(steps_used, "step")}, with ${Printable.value(input)}`,
  ...history.map(({ beat, kind, outcome, step }) => `  beat ${beat} ${step} ${kind} ${outcome}`),
  ...Object.entries(jobs).map(([step, { key, signal }]) => `  ${step} hears of ${key ?? signal}`)
]

/**
 * The face of flows.
 */
export const face = Face.make("flow", {
  records: {
    segment: "flows",
    id: "inst",
    rows: "instances",
    row: Schemas.row,
    record: Schemas.instance,
    cell: (inst) => `${Instance.FOLDER}/${inst}`,
    absent: (inst) => new InstanceAbsent({ inst }),
    invalid: (reason) => new InvalidFlowRequest({ reason })
  },
  verbs: {
    start: {
      on: "list",
      does: words("Starts an instance of a flow."),
      body: Schemas.request,
      done: words((inst, beat) => `started ${inst} in beat ${beat}`)
    },
    pause: {
      on: "record",
      isControl: true,
      does: words("Pauses the instance: it takes no further step."),
      done: words((inst, beat) => `paused ${inst} in beat ${beat}`)
    },
    resume: {
      on: "record",
      isControl: true,
      does: words("Resumes a paused instance."),
      done: words((inst, beat) => `resumed ${inst} in beat ${beat}`)
    },
    cancel: {
      on: "record",
      isControl: true,
      does: words("Ends the instance and the rendezvous that it spawned."),
      done: words((inst, beat) => `cancelled ${inst} in beat ${beat}`)
    },
    budget: {
      on: "record",
      does: words("Replaces its budget."),
      body: Schemas.budget,
      done: words((inst, beat) => `set the budget of ${inst} in beat ${beat}`)
    }
  },
  text: words({
    command: "flow",
    one: "instance",
    many: "instances of flows",
    example: "order17",
    columns: ({ flow, inst, pc, state }) => [inst, state, flow, pc],
    lines,
    version: ({ note, pc, state, steps_used }: Instance.Instance): Face.Version => ({
      fields: { state, pc, steps_used, note },
      line: `${state} at ${pc}${noted(note)}`
    })
  })
})

declare module "../contract/Face.ts" {
  interface Faces {
    readonly flows: typeof face
  }
}
