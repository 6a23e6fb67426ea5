/**
 * The ledgers in a transaction.
 *
 * Each ledger adds its face to {@link Ledgers} by declaration merging; a list of ledgers that has it adds the property.
 *
 * @module
 */

/** The faces of the ledgers, as a run uses them. The folder of a ledger adds its own, by declaration merging. */
export interface Ledgers {}

/** The ledgers that each transaction names, also without a runtime, and the rules by which a node has no face of them. */
const bars: Readonly<Record<string, string>> = {
  op: "starts no operations",
  rv: "spawns no rendezvous",
  flow: "starts no flows",
  io: "sends no requests"
}

/** The rule by which a node has no face of a ledger, since it may run any number of times. */
export const barOf = (name: string): string => bars[name] ?? `does not use tx.${name}`

abstract class LedgerFaces {
  /** Returns the face of one ledger, or throws the refusal. */
  abstract ledger<Name extends keyof Ledgers>(name: Name): Ledgers[Name]
}

/**
 * The faces of the ledgers as properties, over their names.
 */
export const Faces = LedgerFaces as abstract new() => LedgerFaces & Ledgers

/**
 * Gives each transaction the face of a ledger as a property.
 */
export const add = (name: string): void => {
  if (name in LedgerFaces.prototype) return
  Object.defineProperty(LedgerFaces.prototype, name, {
    get(this: LedgerFaces) {
      return this.ledger(name as keyof Ledgers)
    }
  })
}

for (const name of Object.keys(bars)) add(name)
