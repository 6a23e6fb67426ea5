/**
 * The state of an open space: all that its beats and their group commits use.
 *
 * `Recovery` makes it from a store, and `LiveSpace` gives each of its parts the members that the part names.
 *
 * @module
 */
import type { Reporter } from "../../../diagnostic/Reporter.ts"
import type { Telemetry } from "../../../diagnostic/Telemetry.ts"
import type { Hasher } from "../../../persistence/Hash.ts"
import type { PlacedStore } from "../../../persistence/Persistence.ts"
import type { Labels } from "../../../stage/Labels.ts"
import type { BeatScheduler } from "../../derived/BeatScheduler.ts"
import type { OutboxQueue } from "../../inbox/OutboxQueue.ts"
import type { Holds } from "../../model/Holds.ts"
import type { DurableRuns } from "../RunExecutor.ts"
import type { SpaceWatchdog } from "../../watchdog/SpaceWatchdog.ts"
import type { InputSpace } from "../step/BeatInput.ts"
import type { HeartbeatSpace } from "../step/Heartbeat.ts"
import type { CommitHandshake } from "./CommitHandshake.ts"

/** The state of an open space. */
export interface LiveState extends HeartbeatSpace, InputSpace {
  mode: HeartbeatSpace["mode"]
  clock: HeartbeatSpace["clock"]
  readonly derivation: BeatScheduler
  readonly host: HeartbeatSpace["host"]
  readonly store: PlacedStore
  readonly watchdog?: SpaceWatchdog | undefined
  /** The durable runs of the kernel. */
  readonly durable: DurableRuns
  /** Signals to other spaces. */
  readonly departures: OutboxQueue
  /** The labels that decide which cells readers see, if any. */
  readonly labels?: Labels | undefined
  /** The kernel's spaces in manual mode, by name. */
  readonly held: Holds
  /** Starts the digest of content that comes in chunks. */
  readonly startHash: () => Hasher
  /** Receives the diagnostics of the space. */
  readonly reporter: Reporter
  /** Receives the spans and metrics of the space. */
  readonly telemetry: Telemetry
  /** Makes its groups durable. */
  readonly handshake: CommitHandshake
}
