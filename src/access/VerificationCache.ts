/**
 * Results of verifications that are remembered, so many at most: by the public name of what was shown, and by its proof.
 *
 * A digest of each text that a request shows would cost more than the rest of the decision. So the proof itself is kept, in memory
 * alone, and compared in constant time. No part of a proof is looked up in a table.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import { isSame } from "./Token.ts"

/** The most results. The oldest is made again. */
export const MAX_REMEMBERED = 10_000

/** The most characters of all names and proofs. */
export const MAX_CHARACTERS = 8_388_608

interface Known<A> {
  readonly proof: Redacted.Redacted
  readonly result: A
}

/**
 * The newest results of a host.
 */
export class VerificationCache<A> {
  private readonly results = new Map<string, Known<A>>()
  private characters = 0

  /** The result of a name with its proof; `undefined` for one that is not remembered, or with another proof. */
  get(name: string, proof: Redacted.Redacted): A | undefined {
    const known = this.results.get(name)
    // An unknown name takes as long.
    const isProved = isSame(Redacted.value(proof), Redacted.value(known?.proof ?? proof))
    return isProved ? known?.result : undefined
  }

  /** Remembers a result in place of an earlier one of the name. */
  set(name: string, proof: Redacted.Redacted, result: A): void {
    this.remove(name)
    this.results.set(name, { proof, result })
    this.characters += name.length + Redacted.value(proof).length
    for (const oldest of this.results.keys()) {
      if (this.results.size <= MAX_REMEMBERED && this.characters <= MAX_CHARACTERS) return
      this.remove(oldest)
    }
  }

  /** Forgets the result of a name with its proof. */
  delete(name: string, proof: Redacted.Redacted): void {
    if (this.get(name, proof) !== undefined) this.remove(name)
  }

  clear(): void {
    this.results.clear()
    this.characters = 0
  }

  /** The number of results. */
  get size(): number {
    return this.results.size
  }

  private remove(name: string): void {
    const known = this.results.get(name)
    if (known === undefined) return
    this.results.delete(name)
    this.characters -= name.length + Redacted.value(known.proof).length
  }
}
