/**
 * The sources of a space's history, read by verify, replay, `why` and `explain`.
 *
 * @module
 */
import type { LedgerList } from "../../ledger/LedgerList.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import type { Modules } from "../../scheduler/definition/Modules.ts"
import type { DurableRuns } from "./RunExecutor.ts"
import type { RunHost } from "../watchdog/RunHost.ts"
import type { Settings } from "../model/Limits.ts"
import type { ModuleRestore } from "../model/ModuleRestore.ts"

/**
 * A read-only view of a space: its store, its code, and the host of replayed runs.
 */
export interface HistorySource {
  readonly store: Omit<SpaceStore, "append" | "flush" | "raise" | "writeBlob">
  readonly enzymes: Enzymes
  readonly nodes: Modules
  readonly ledgers: LedgerList
  readonly durable: DurableRuns
  readonly settings: Settings
  readonly hash: (data: string | Uint8Array) => string
  readonly host: RunHost
  readonly restore: ModuleRestore
  /** Called at least once per journal row. Its promise yields to the host, and has to be awaited. Throws when the query is cancelled. */
  readonly rest: () => Promise<void> | undefined
}
