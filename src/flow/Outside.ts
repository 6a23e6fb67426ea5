/**
 * The outside of flows: requests of their face as commands, and their instances.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { KindsOf } from "../contract/Face.ts"
import * as CellRecords from "../ledger/CellRecords.ts"
import type { Commands, Outside, RecordStore } from "../ledger/Outside.ts"
import { face } from "./Face.ts"
import * as Instance from "./Instance.ts"
import type { FlowCommand } from "./Ledger.ts"

type Kinds = KindsOf<typeof face>

const commands: Commands<Kinds["Verbs"], FlowCommand> = {
  start: ({ input, ...request }) => ({ verb: "start", request, value: input === undefined ? undefined : Document.encode(input) }),
  pause: (_, inst) => ({ verb: "pause", inst }),
  resume: (_, inst) => ({ verb: "resume", inst }),
  cancel: (_, inst) => ({ verb: "cancel", inst }),
  budget: (budget, inst) => ({ verb: "budget", inst, budget })
}

const find = (store: RecordStore, inst: string) => {
  const text = Instance.isId(inst) ? store.read(Instance.address(inst).key) : undefined
  const instance = text === undefined ? undefined : Instance.read(Document.read(Document.decode(text), []))
  return instance === undefined ? undefined : { inst, ...instance }
}

const rowOf = (store: RecordStore, inst: string) => {
  const found = find(store, inst)
  if (found === undefined) return undefined
  const { flow, note, pc, started, state, steps_used } = found
  return { inst, flow, state, pc, started, steps_used, ...note === undefined ? {} : { note } }
}

/**
 * The outside of flows.
 */
export const outside: Outside<Kinds, FlowCommand> = {
  face,
  commands,
  page: CellRecords.pages({ folder: Instance.FOLDER, isDeep: false, rowOf }),
  find
}
