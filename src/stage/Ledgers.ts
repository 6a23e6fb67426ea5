/**
 * The ledgers of the runtime in a transaction.
 *
 * A new ledger adds its face to the three declarations of this file. The transactions of runs and of nodes follow.
 *
 * @module
 */
import type { Io } from "./Io.ts"
import type { Flows, Operations, Rendezvous } from "./Launch.ts"

/** The faces of the ledgers, as a run uses them. */
export interface Ledgers {
  /** Long-running operations. */
  readonly op: Operations
  /** Rendezvous with work outside the beat. */
  readonly rv: Rendezvous
  /** Flow instances. */
  readonly flow: Flows
  /** Requests to the world, through the channels of the configuration. */
  readonly io: Io
}

/** The rule by which a node has no face of each ledger, since it may run any number of times. */
export const barred: { readonly [Name in keyof Ledgers]: string } = {
  op: "starts no operations",
  rv: "spawns no rendezvous",
  flow: "starts no flows",
  io: "sends no requests"
}

/**
 * The faces of the ledgers as properties, over their names.
 *
 * @category models
 * @since 0.1.0
 */
export abstract class Faces implements Ledgers {
  get op(): Operations { return this.ledger("op") }
  get rv(): Rendezvous { return this.ledger("rv") }
  get flow(): Flows { return this.ledger("flow") }
  get io(): Io { return this.ledger("io") }

  /** Returns the face of one ledger, or throws the refusal. */
  abstract ledger<Name extends keyof Ledgers>(name: Name): Ledgers[Name]
}
