/**
 * Launches: requests of a transaction that a ledger merges after the
 * transaction's writes, such as entries that it numbers.
 *
 * @module
 */
import type { Address } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"

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

/** The end of a rendezvous that belongs to a flow that is over. */
export interface RendezvousLaunch {
  readonly kind: "end"
  readonly key: string
}

/** The launches of each ledger, by its name: requests that its owner numbers or merges. */
export interface Launches {
  readonly op: OperationLaunch
  readonly rv: RendezvousLaunch
}

/** One launch of a transaction, and the documents that the transaction reads until the merge makes them anew. */
export interface Launched<Name extends keyof Launches = keyof Launches> {
  readonly ledger: Name
  readonly launch: Launches[Name]
  readonly shows: ReadonlyArray<readonly [Address, Document]>
}
