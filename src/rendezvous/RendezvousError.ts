/**
 * The refusals of rendezvous.
 *
 * @module
 */
import * as Data from "effect/Data"
import { TokenRefused } from "./TokenRefused.ts"

/** The request is malformed. */
export class InvalidRendezvous extends Data.TaggedError("InvalidRendezvous")<{ readonly reason: string }> {
  readonly code = "rv/invalid"
  override get message() {
    return `The rendezvous is refused: ${this.reason}`
  }
}

/** A spawn has no specification. */
export class NoSpec extends Data.TaggedError("NoSpec") {
  readonly code = "rv/no-spec"
  override get message() {
    return "A rendezvous is spawned from a specification, and there is none. Give one with a key at least, such as { key: \"job\" }"
  }
}

/** The ledger of a space was never created. */
export class LedgerMissing extends Data.TaggedError("LedgerMissing") {
  readonly code = "rv/ledger-missing"
  override get message() {
    return "The space has no ledger of rendezvous at /data/rv. Load the enzyme rv_init, grant it system, and send /CEP:sig_sys/init once"
  }
}

/** The rendezvous does not exist. */
export class RendezvousAbsent extends Data.TaggedError("RendezvousAbsent")<{ readonly key: string }> {
  readonly code = "rv/absent"
  override get message() {
    return `There is no rendezvous "${this.key.slice(0, 200)}". List those there are, or spawn one`
  }
}

/** The rendezvous has completed. */
export class RendezvousFinished extends Data.TaggedError("RendezvousFinished")<{ readonly key: string; readonly state: string }> {
  readonly code = "rv/finished"
  override get message() {
    return `Rendezvous "${this.key}" is over: it is ${this.state}, and its event was given. Spawn one of this key again for further work`
  }
}

/** The rendezvous is not in quarantine, so it cannot be released. */
export class RendezvousFree extends Data.TaggedError("RendezvousFree")<{ readonly key: string; readonly state: string }> {
  readonly code = "rv/not-quarantined"
  override get message() {
    return `Rendezvous "${this.key}" is ${this.state}, and not in quarantine, so nothing holds its next report back. Report on it, or ` +
      "look how it stands"
  }
}

/** The completion of an entry has no event yet, and replacing the entry would lose it. */
export class RendezvousUntold extends Data.TaggedError("RendezvousUntold")<{ readonly key: string; readonly state: string }> {
  readonly code = "rv/untold"
  override get message() {
    return `Rendezvous "${this.key}" became ${this.state} in this beat, and nobody was told of that yet. Spawn one of this key from the ` +
      "next beat on, such as when its event comes"
  }
}

/** The limit on open rendezvous is reached. */
export class RendezvousFull extends Data.TaggedError("RendezvousFull")<{ readonly limit: number }> {
  readonly code = "rv/full"
  override get message() {
    return `${this.limit} rendezvous of the space are not over, which is the limit. Let some of them end, or kill them`
  }
}

/** All refusals of the verbs. */
export type RendezvousError =
  | InvalidRendezvous | NoSpec | LedgerMissing | TokenRefused
  | RendezvousAbsent | RendezvousFinished | RendezvousFree | RendezvousFull | RendezvousUntold

/** The refusal classes, which distinguish refusals from unexpected failures. */
export const refusals = [
  InvalidRendezvous, NoSpec, LedgerMissing, RendezvousAbsent, RendezvousFinished, RendezvousFree, RendezvousFull, RendezvousUntold,
  TokenRefused
] as const

declare module "../ledger/LedgerError.ts" {
  interface Refusals {
    readonly rv: RendezvousError
  }
}
