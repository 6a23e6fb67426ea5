/**
 * The body of an open space: all that its heartbeat works with.
 *
 * @module
 */
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Lists } from "../../registry/Bindings.ts"
import type { Modules } from "../../scheduler/Modules.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import type { LedgerList } from "../../ledger/LedgerList.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { OutboxQueue } from "../inbox/OutboxQueue.ts"
import type { DerivationPort } from "../derived/DerivationPort.ts"
import type { BeatScheduler } from "../derived/BeatScheduler.ts"
import type { Documents } from "../model/Documents.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import type { Settings } from "../model/Limits.ts"
import type { Parked } from "../model/Parked.ts"
import type { Recall } from "../model/Recall.ts"
import type { Regime } from "../model/Regime.ts"
import type { Watch } from "../watchdog/RunWatch.ts"
import type { RunSupervisor } from "../watchdog/RunSupervisor.ts"

/** What a run needs of the host: a limit on its time. */
export interface RunHost {
  readonly now: () => number
  readonly wake: (at: number, run: () => void) => () => void
  /** Told while a run has the host to itself. */
  readonly watch?: Watch | undefined
}

/**
 * What a space is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Body {
  readonly space: string
  readonly store: SpaceStore
  readonly documents: Documents
  readonly inbox: Inbox
  /** Signals to other spaces. */
  readonly departures: OutboxQueue
  readonly enzymes: Enzymes
  /** What is derived from its cells. */
  readonly derivation: DerivationPort
  /** The bindings put at run time, by cell. */
  readonly bindings: Lists
  /** What the space lets happen, as the newest beat left it. */
  regime: Regime
  /** Signals that a closed gate parked and no beat has told of. */
  readonly parked: Parked
  readonly ledgers: LedgerList
  /** The states of the ledgers, by their places in the list. */
  readonly states: ReadonlyArray<unknown>
  readonly settings: Settings
  /** The labels by which its cells are shown to those outside, where it has any. */
  readonly labels?: Labels | undefined
  readonly hash: (data: string | Uint8Array) => string
  /** Draws a beat's seed. */
  readonly seed: () => string
  readonly host: RunHost
  /** Knows which runs are under way, where the host has a watchdog. */
  readonly sentry?: RunSupervisor | undefined
  /** Brings back code that ran once, for those who look back. */
  readonly recall: Recall
  /** The number of the next thing that waits. */
  readonly number: () => number
}

/**
 * The body of a space that is alive.
 *
 * @category models
 * @since 0.1.0
 */
export interface LiveBody extends Body {
  readonly derivation: BeatScheduler
  /** The node modules of the runtime. */
  readonly nodes: Modules
  /** The spaces of the kernel in which beats run by hand alone. */
  readonly held: Set<string>
  /** Where what goes wrong is told. */
  readonly reporter: Reporter
}
