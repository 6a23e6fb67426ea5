/**
 * The types of the ledger of requests.
 *
 * @module
 */
import type { LedgerBeat } from "../ledger/Ledger.ts"
import type { Io } from "../stage/Io.ts"
import type { RequestLaunch } from "../stage/Launches.ts"
import type { Input, OpenRequests } from "./OpenRequests.ts"
import type { DrainCount } from "./RequestMetrics.ts"
import type { Work } from "./Work.ts"

/** A request from outside. */
export interface IoCommand {
  readonly verb: "cancel"
  readonly rid: string
}

/** The requests to submit and to abort, once their beat is durable, and the counts of the beat. */
export interface Output {
  readonly drain: DrainCount
  readonly submitted: ReadonlyArray<string>
  readonly aborted: ReadonlyArray<string>
  /** Channels to watch for room. */
  readonly watched: ReadonlyArray<string>
}

/** The types of the ledger. */
export interface IoKinds {
  readonly Face: Io
  readonly Command: IoCommand
  /** The id of the request. */
  readonly Reply: string
  readonly Launch: RequestLaunch
  readonly State: OpenRequests
  readonly Work: Work
  readonly Input: Input
  readonly Output: Output
  readonly Limits: { readonly ioRequests: number }
}

/** A beat, as requests see it. */
export type Beat = LedgerBeat<IoKinds>
