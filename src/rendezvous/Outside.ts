/**
 * The outside of rendezvous: requests of their face as commands, and their entries.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { KindsOf } from "../contract/Face.ts"
import * as CellRecords from "../ledger/CellRecords.ts"
import type { Commands, Outside, RecordStore } from "../ledger/Outside.ts"
import * as Entries from "./Entry.ts"
import { face } from "./Face.ts"
import type { RendezvousCommand } from "./Ledger.ts"
import { TokenRefused } from "./TokenRefused.ts"

type Kinds = KindsOf<typeof face>

const entryOf = (store: RecordStore, key: string): Entries.Entry | undefined => {
  const text = Entries.isKey(key) ? store.read(Entries.address(key).key) : undefined
  return text === undefined ? undefined : Entries.read(Document.read(Document.decode(text), []))
}

const commands: Commands<Kinds["Verbs"], RendezvousCommand> = {
  spawn: (spec) => ({ verb: "spawn", value: Document.encode(spec) }),
  token: (_, key) => ({ verb: "claim", key }),
  report: ({ telemetry, token }, key, { hash, store }) => {
    const value = telemetry === undefined ? undefined : Document.encode(telemetry)
    if (token === undefined) return { verb: "report", key, value }
    // The journal has no token that anybody could show, and nothing of who shows one that is not good; the beat looks again.
    const proof = hash(token)
    if (entryOf(store, key)?.token_id !== proof) throw new TokenRefused({ key })
    return { verb: "report", key, value, proof }
  },
  kill: (how, key) => ({ verb: "kill", key, ...how }),
  release: (_, key) => ({ verb: "release", key }),
  resched: ({ delta }, key) => ({ verb: "resched", key, delta })
}

/** An entry as all may see it, which has nothing of its token. */
const find = (store: RecordStore, key: string) => {
  const entry = entryOf(store, key)
  if (entry === undefined) return undefined
  const { inst_id, token_id: _, telemetry, ...shown } = entry
  return { key, ...shown, ...inst_id === undefined ? {} : { inst_id }, telemetry }
}

/**
 * The outside of rendezvous.
 */
export const outside: Outside<Kinds, RendezvousCommand> =
  { face, commands, page: CellRecords.pages({ folder: Entries.FOLDER, isDeep: false, rowOf: find }), find }
