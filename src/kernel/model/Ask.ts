/**
 * Asks: what the outside asks of the ledgers of a space, and how that is refused.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { FlowError } from "../../flow/FlowError.ts"
import type { Action } from "../../flow/Verbs.ts"
import type { AwaitUnheard, InvalidOperation, OperationAbsent, OperationClosed, WatchersFull } from "../../operation/OperationError.ts"
import type { RendezvousError } from "../../rendezvous/RendezvousError.ts"
import type { InvalidSignal } from "../../stage/Emission.ts"
import type { FlowBudget, FlowRequest, OperationRequest } from "../../stage/Launch.ts"
import type { CellLocked } from "./SpaceError.ts"

/** What the outside asks of operations; the value that goes with it is as it is kept. */
export type OperationAsk =
  & { readonly value?: Document | undefined }
  & (
    | { readonly verb: "start"; readonly request: Omit<OperationRequest, "payload"> }
    | { readonly verb: "state"; readonly oid: string; readonly state: string; readonly code?: number; readonly note?: string }
    | { readonly verb: "await"; readonly oid: string; readonly want: string; readonly signal: string; readonly ttl?: number }
    | { readonly verb: "close"; readonly oid: string; readonly status: string }
  )

/** Why it was not done. */
export type OperationRefused = InvalidOperation | OperationAbsent | OperationClosed | AwaitUnheard | WatchersFull | InvalidSignal

/** What the outside asks of rendezvous; the value that goes with it, a specification or telemetry, is as it is kept. */
export type RendezvousAsk =
  & { readonly value?: Document | undefined }
  & (
    | { readonly verb: "spawn" }
    | { readonly verb: "claim"; readonly key: string }
    | { readonly verb: "release"; readonly key: string }
    | { readonly verb: "resched"; readonly key: string; readonly delta: number }
    | { readonly verb: "kill"; readonly key: string; readonly mode?: string; readonly wait?: number }
    | { readonly verb: "report"; readonly key: string; readonly proof?: string }
  )

/** What a spawn or a claim gives to whoever asked for it. */
export interface Spawned {
  readonly key: string
  readonly token: string
}

/** Why it was not done. */
export type RendezvousRefused = RendezvousError | CellLocked

/** What the outside asks of flows; the value that goes with it, an input, is as it is kept. */
export type FlowAsk =
  & { readonly value?: Document | undefined }
  & (
    | { readonly verb: "start"; readonly request: Omit<FlowRequest, "input"> }
    | { readonly verb: "budget"; readonly inst: string; readonly budget: FlowBudget }
    | { readonly verb: Action; readonly inst: string }
  )

/** Why it was not done. */
export type FlowRefused = FlowError | CellLocked
