/**
 * The history of a space: what is read to verify, replay and explain it.
 *
 * @module
 */
import type { LedgerList } from "../../ledger/LedgerList.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import type { Modules } from "../../scheduler/Modules.ts"
import type { RunHost } from "./Body.ts"
import type { Settings } from "../model/Limits.ts"
import type { Recall } from "../model/Recall.ts"

/**
 * A space as those see it who look back.
 *
 * @category models
 * @since 0.1.0
 */
export interface HistorySource {
  readonly store: Omit<SpaceStore, "append" | "flush" | "writeBlob">
  readonly enzymes: Enzymes
  readonly nodes: Modules
  readonly ledgers: LedgerList
  readonly settings: Settings
  readonly hash: (data: string | Uint8Array) => string
  readonly host: RunHost
  readonly recall: Recall
  /** Asked between two pieces of work, each of one journal row at most: what it answers is to be waited for. Throws where nobody wants the answer any more. */
  readonly rest: () => Promise<void> | undefined
}
