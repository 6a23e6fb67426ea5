/**
 * The outside of operations: requests of their face as commands, and their dossiers.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { KindsOf } from "../contract/Face.ts"
import * as CellRecords from "../ledger/CellRecords.ts"
import type { Commands, Outside } from "../ledger/Outside.ts"
import type { OperationRequest } from "../stage/Launch.ts"
import * as Dossier from "./Dossier.ts"
import * as DossierView from "./DossierView.ts"
import { face } from "./Face.ts"
import type { OperationCommand } from "./Ledger.ts"
import * as Verbs from "./Verbs.ts"

const encoded = (value: unknown): Document.Document | undefined => value === undefined ? undefined : Document.encode(value)

const commands: Commands<typeof face.verbs, OperationCommand> = {
  start: ({ mode = "opm:states", payload, target, verb, ...rest }) => {
    const request = { verb, target, mode, ...rest } as Omit<OperationRequest, "payload">
    Verbs.check(request)
    return { verb: "start", request, value: encoded(payload) }
  },
  state: (change, oid) => ({ verb: "state", oid, ...change }),
  await: ({ payload, ...awaiting }, oid) => ({ verb: "await", oid, ...awaiting, value: encoded(payload) }),
  close: ({ status, summary }, oid) => ({ verb: "close", oid, status, value: encoded(summary) }),
  cancel: (_, oid) => ({ verb: "close", oid, status: "sts:cnl", value: undefined })
}

/**
 * The outside of operations.
 */
export const outside: Outside<KindsOf<typeof face>, OperationCommand> = {
  face,
  commands,
  page: CellRecords.pages({ folder: Dossier.FOLDER, isDeep: true, rowOf: DossierView.rowOf }),
  find: DossierView.find
}
