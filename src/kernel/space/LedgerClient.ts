/**
 * Clients of ledgers: the commands of one ledger and its records, as the outside
 * uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Ledger from "../../ledger/Command.ts"
import type { Done } from "../model/Command.ts"
import type { FaceHost } from "./SpaceFace.ts"
import type { CellRecords } from "../../ledger/Outside.ts"
import { CellList } from "../view/CellList.ts"
import type { ControlError } from "../view/Expected.ts"

/** An open space, as the clients of its ledgers need it. */
export type LedgerHost = FaceHost

/**
 * A client of one ledger.
 *
 * @category models
 * @since 0.1.0
 */
export class LedgerClient<C extends Ledger.Command, Reply, Row> {
  readonly records: CellList<Row>
  private readonly ledger: string
  private readonly host: LedgerHost

  constructor(host: LedgerHost, ledger: string, records: CellRecords<Row>) {
    this.host = host
    this.ledger = ledger
    this.records = new CellList(host, records)
  }

  /** Has the next beat do a command; `make` throws where it is refused at once. */
  ask(make: () => C): Effect.Effect<Done<Reply>, ControlError> {
    return this.host.submit(() => ({ kind: "ledger", ledger: this.ledger, command: make() })) as Effect.Effect<Done<Reply>, ControlError>
  }

  /** The same; answers the beat alone. */
  tell(make: () => C): Effect.Effect<number, ControlError> {
    return Effect.map(this.ask(make), ({ beat }) => beat)
  }
}
