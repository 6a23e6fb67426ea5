/**
 * Slices as the kernel takes them: ledgers, durable runs, and parts of the API of a space.
 *
 * @module
 */
import type { Parts } from "../../frame/Parts.ts"
import type { Ledger } from "../../ledger/Ledger.ts"
import type { Hash } from "../../persistence/Hash.ts"
import type { Reactor } from "../../reactor/Reactor.ts"
import type { DurableRuns } from "../beat/RunExecutor.ts"
import type { Pin } from "../view/Pin.ts"
import type { SpacePart } from "./SpacePart.ts"

/**
 * A slice of the kernel.
 */
export interface KernelSlice {
  /** A name of the table in `ledger/SliceTable.ts`, or that of a slice which is not part of the runtime. */
  readonly name: string
  /** Makes its ledger over the reactor of the kernel. */
  readonly ledger?: (reactor: Reactor["Service"]) => Ledger
  /** The durable runs. */
  readonly runs?: DurableRuns
  /** Its part of the API of a space. */
  readonly part?: SpacePart
  /** Makes a frame of a pinned state, in pieces. */
  readonly frame?: (pin: Pin, hash: Hash["Service"], parts: Parts) => AsyncGenerator<Uint8Array>
}
