/**
 * The refusals of alarms.
 *
 * @module
 */
import * as Data from "effect/Data"

/** An alarm is refused. */
export class AlarmRefused extends Data.TaggedError("AlarmRefused")<{ readonly reason: string }> {
  readonly code = "toy/refused"
  readonly kind = "invalid"
  override get message() {
    return `The alarm is refused: ${this.reason}`
  }
}

/** There is no such alarm. */
export class AlarmAbsent extends Data.TaggedError("AlarmAbsent")<{ readonly key: string }> {
  readonly code = "toy/absent"
  readonly kind = "absent"
  override get message() {
    return `There is no alarm "${this.key.slice(0, 200)}". Arm it first`
  }
}

declare module "../../src/ledger/LedgerError.ts" {
  interface Refusals {
    readonly toy: AlarmAbsent | AlarmRefused
  }
}
