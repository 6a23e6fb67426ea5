/**
 * The ledgers of the runtime in a transaction.
 *
 * A further ledger adds its face to {@link Ledgers} by declaration merging; a list of ledgers that has it adds the property.
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

/** The rules by which a node has no face of a ledger, since it may run any number of times. */
const bars: Readonly<Record<string, string>> = {
  op: "starts no operations",
  rv: "spawns no rendezvous",
  flow: "starts no flows",
  io: "sends no requests"
}

/** The rule by which a node has no face of a ledger. */
export const barOf = (name: string): string => bars[name] ?? `does not use tx.${name}`

abstract class LedgerFaces {
  get op(): Operations { return this.ledger("op") }
  get rv(): Rendezvous { return this.ledger("rv") }
  get flow(): Flows { return this.ledger("flow") }
  get io(): Io { return this.ledger("io") }

  /** Returns the face of one ledger, or throws the refusal. */
  abstract ledger<Name extends keyof Ledgers>(name: Name): Ledgers[Name]
}

/**
 * The faces of the ledgers as properties, over their names.
 *
 * @category models
 * @since 0.1.0
 */
export const Faces = LedgerFaces as abstract new() => LedgerFaces & Ledgers

/**
 * Gives each transaction the face of a ledger as a property.
 *
 * @category combinators
 * @since 0.2.0
 */
export const add = (name: string): void => {
  if (name in LedgerFaces.prototype) return
  Object.defineProperty(LedgerFaces.prototype, name, {
    get(this: LedgerFaces) {
      return this.ledger(name as keyof Ledgers)
    }
  })
}
