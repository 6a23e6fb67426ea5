/**
 * Launches: requests of a transaction that a ledger merges after the
 * transaction's writes, such as entries that it numbers.
 *
 * @module
 */
import type { Address } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import type { Label } from "../cell/Label.ts"

/** A launch of an operation, other than the writes to its dossier: entries are numbered when the run is merged. */
export type OperationLaunch =
  | { readonly kind: "state"; readonly oid: string; readonly state: string; readonly code: number; readonly note: string | undefined }
  | {
    readonly kind: "close"
    readonly oid: string
    readonly state: string
    readonly code: number
    readonly note: string | undefined
    readonly status: string
    /** Whether it adds an entry to the history; false if the state equals the newest one. */
    readonly entry: boolean
  }
  | {
    readonly kind: "await"
    readonly oid: string
    readonly want: string
    readonly ttl: number
    readonly signal: string
    readonly payload: Document | undefined
    /** The enzyme that awaits the operation. */
    readonly enzyme: string
  }

/** The start of an operation with a fixed id, unless it exists: the dossier of another ledger. */
export interface OperationStart {
  readonly kind: "start"
  readonly oid: string
  readonly verb: string
  readonly target: string
}

/** The end of a rendezvous that belongs to a flow that is over. */
export interface RendezvousLaunch {
  readonly kind: "end"
  readonly key: string
}

/**
 * A request to the world with the documents of its cells, or the repetition of a failed one. The cancellation of a request, or
 * of all open ones of a run. Or a wait for the room of a channel.
 */
export type RequestLaunch =
  | {
    readonly kind: "request"
    readonly oid: string
    readonly rid: string
    readonly channel: string
    readonly documents: ReadonlyArray<readonly [Address, Document]>
  }
  /** A silent cancellation resumes no durable run. */
  | { readonly kind: "cancel"; readonly rid: string; readonly isSilent?: boolean }
  | { readonly kind: "end"; readonly oid: string }
  | { readonly kind: "repeat"; readonly oid: string; readonly rid: string }
  | { readonly kind: "watch"; readonly channel: string; readonly enzyme: string; readonly signal: string; readonly depth: number }

/** The receiver of a launch: a place outside, or the ledger that writes cells for the run. */
export interface Sink {
  readonly name: string
  /** The atoms that data of the run may have outside; `undefined` if no data leaves. */
  readonly clearance: Label | undefined
  /** Cells that the ledger writes at the merge. Each has to have all atoms of the run. */
  readonly cells: ReadonlyArray<Address>
}

/** The launches of each ledger, by its name: requests that its owner numbers or merges. */
export interface Launches {
  readonly op: OperationLaunch | OperationStart
  readonly rv: RendezvousLaunch
  readonly io: RequestLaunch
}

/** A launch that cancels the request of a durable run, which hears nothing of it. */
export const cancellation = (rid: string): LaunchRecord<"io"> =>
  ({ ledger: "io", launch: { kind: "cancel", rid, isSilent: true }, shows: [] })

/** One launch of a transaction, and the documents that the transaction reads until the merge makes them anew. */
export interface LaunchRecord<Name extends keyof Launches = keyof Launches> {
  readonly ledger: Name
  readonly launch: Launches[Name]
  readonly shows: ReadonlyArray<readonly [Address, Document]>
  /** The receiver of the launch, if it has one. A run with a label above its clearance or its cells is refused. */
  readonly sink?: Sink
}
