/**
 * The outside of alarms: requests of their face as commands, and their cells.
 *
 * @module
 */
import * as Document from "../../src/cell/Document.ts"
import type { KindsOf } from "../../src/contract/Face.ts"
import * as CellRecords from "../../src/ledger/CellRecords.ts"
import type { Outside, RecordStore } from "../../src/ledger/Outside.ts"
import { face } from "./Face.ts"
import { type Alarm, FOLDER, isKey, type ToyCommand } from "./Ledger.ts"

const find = (store: RecordStore, key: string) => {
  const text = isKey(key) ? store.read(`${FOLDER}/${key}`) : undefined
  if (text === undefined) return undefined
  const { due: _, ...alarm } = Document.read(Document.decode(text), []) as unknown as Alarm
  return { key, ...alarm }
}

/** The outside of alarms. */
export const outside: Outside<KindsOf<typeof face>, ToyCommand> = {
  face,
  commands: {
    arm: ({ beats, key }) => ({ verb: "arm", key, beats }),
    cancel: (_, key) => ({ verb: "cancel", key })
  },
  page: CellRecords.pages({ folder: FOLDER, isDeep: false, rowOf: find }),
  find
}
