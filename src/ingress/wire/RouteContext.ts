/**
 * The functions that routes share.
 *
 * @module
 */
import type { Signer } from "../../frame/Signature.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Hash } from "../../persistence/Hash.ts"
import type * as Sse from "./Sse.ts"
import type { Transfers } from "./Transfers.ts"
import type { Runner } from "./Runner.ts"

/** The functions that routes share. */
export interface RouteContext {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  /** Runs Effects that belong to no request. */
  readonly runner: Runner
  /** The key that signs the frames of this host; `undefined` without one. */
  readonly signer: Signer | undefined
  /** Creates a response from a stream of events, on the quota of a reader or of the operator. */
  readonly stream: Sse.Answer
  readonly transfers: Transfers
  /** Whether the platform takes this host out of memory when it is idle, so that it keeps no timer. */
  readonly isEvicted: boolean
  /** Whether this is a development server, which has the routes of the debugger. */
  readonly isDebugged: boolean
}
