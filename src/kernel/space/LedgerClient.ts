/**
 * Clients of ledgers: the commands of one ledger and its records, as the outside
 * uses them.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Value } from "../../cell/Value.ts"
import type * as Ledger from "../../ledger/Command.ts"
import type { Command, Done } from "../model/Command.ts"
import { CellList, type DurableStore, type Records } from "../view/CellList.ts"
import type { ControlError } from "../view/Expected.ts"

/** An open space, as the clients of its ledgers need it. */
export interface LedgerHost extends DurableStore {
  /** Hands a command to the next beat; answers that beat and the reply, when it is durable. */
  readonly submit: (make: () => Command) => Effect.Effect<Done, ControlError>
  readonly hash: (text: string) => string
  /** A view of the live halves; `undefined` if none has it. */
  readonly view: (id: string) => Value
}

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

  constructor(host: LedgerHost, ledger: string, records: Records<Row>) {
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
