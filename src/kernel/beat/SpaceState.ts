/**
 * The mutable state of an open space, as the heartbeat uses it.
 *
 * @module
 */
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Hasher } from "../../persistence/Hash.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Lists } from "../../registry/Bindings.ts"
import type { Modules } from "../../scheduler/Modules.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import type { LedgerList } from "../../ledger/LedgerList.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { SpaceClock } from "../../stage/SpaceClock.ts"
import type { OutboxQueue } from "../inbox/OutboxQueue.ts"
import type { DerivationPort } from "../derived/DerivationPort.ts"
import type { BeatScheduler } from "../derived/BeatScheduler.ts"
import type { Documents } from "../model/Documents.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import type { Settings } from "../model/Limits.ts"
import type { Losses } from "../model/Losses.ts"
import type { Holds } from "../model/Holds.ts"
import type { Parked } from "../model/Parked.ts"
import type { ModuleRestore } from "../model/ModuleRestore.ts"
import type { SpaceMode } from "../model/SpaceMode.ts"
import type { RunSupervisor } from "../watchdog/RunSupervisor.ts"
import type { CommitHandshake } from "./CommitHandshake.ts"
import type { DurableRuns } from "./DurableRuns.ts"
import type { LiveClock } from "./LiveClock.ts"
import type { RunHost } from "./RunHost.ts"
import type { Schedules } from "./Schedules.ts"

/**
 * The state of a space, live or in a replay.
 */
export interface SpaceState {
  readonly space: string
  readonly store: SpaceStore
  readonly documents: Documents
  readonly inbox: Inbox
  /** Signals to other spaces. */
  readonly departures: OutboxQueue
  readonly enzymes: Enzymes
  /** The port to the scheduler. */
  readonly derivation: DerivationPort
  /** The bindings made at run time, by cell. */
  readonly bindings: Lists
  /** The durable runs. */
  readonly durable: DurableRuns
  /** The mode of the space after the newest beat. */
  mode: SpaceMode
  /** The clock of the space after the newest beat. */
  clock: SpaceClock
  /** Signals parked while the space is paused, and not reported by a beat yet. */
  readonly parked: Parked
  readonly ledgers: LedgerList
  /** The states of the ledgers, by their places in the list. */
  readonly states: ReadonlyArray<unknown>
  readonly settings: Settings
  /** The labels that decide which cells readers see, if any. */
  readonly labels?: Labels | undefined
  readonly hash: (data: string | Uint8Array) => string
  /** Draws the seed of a beat. */
  readonly seed: () => string
  readonly host: RunHost
  /** Tracks the run in progress, where the host has a watchdog. */
  readonly sentry?: RunSupervisor | undefined
  /** Restores the code of earlier beats for replays. */
  readonly restore: ModuleRestore
  /** Draws the next queue number. */
  readonly number: () => number
}

/**
 * The state of a live space.
 */
export interface LiveState extends SpaceState {
  readonly derivation: BeatScheduler
  /** The clock, over that of the host. */
  readonly liveClock: LiveClock
  /** The time since which the clock of the host has run evenly, and that after its newest step of over a day ahead. */
  readonly steady: { readonly since: number; readonly leapt: number }
  /** The node modules of the runtime. */
  readonly nodes: Modules
  /** The kernel's spaces in manual mode, by name. */
  readonly held: Holds
  /** Starts the digest of content that comes in chunks. */
  readonly startHash: () => Hasher
  /** Receives the diagnostics of the space. */
  readonly reporter: Reporter
  /** Makes its groups durable. */
  readonly handshake: CommitHandshake
  /** The schedules of its enzymes. */
  readonly schedules: Schedules
  /** The beats that the kernel's spaces lost, and have not journaled. */
  readonly losses: Losses
}
