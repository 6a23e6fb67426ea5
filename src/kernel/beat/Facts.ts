/**
 * The facts of one beat: diagnostics in cells of their own.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import { COMMIT } from "../../stage/Stage.ts"
import type { BeatTransaction } from "./BeatTransaction.ts"

/** A diagnostic and its cell. */
export interface Fact {
  readonly fact: Diagnostic.Diagnostic
  readonly place: Address
}

/**
 * Collects the facts of a beat.
 */
export class Facts {
  readonly all: Array<Fact> = []
  private readonly transaction: Pick<BeatTransaction, "moment" | "stage">

  constructor(transaction: Facts["transaction"]) {
    this.transaction = transaction
  }

  /** Puts a diagnostic into a cell of its own. */
  diagnose(fact: Diagnostic.Diagnostic): void {
    const { moment, stage } = this.transaction
    const place = Diagnostic.address(moment.beat, this.all.length)
    this.all.push({ fact, place })
    stage.put(place, Diagnostic.toDocument(fact, { beat: moment.beat, now: moment.date }, place), COMMIT)
    if (fact.payload !== undefined) stage.put(Diagnostic.payloadOf(place), fact.payload, COMMIT)
  }
}
